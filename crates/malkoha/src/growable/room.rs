//! A segment as the search for room sees it.

use super::segment::{Position, Segment, Slot, segment_bytes};
use super::shape::LANES;
use crate::addressing::Probe;
use crate::layout::Room;
use crate::layout::bits::Word;

/// What the search for room needs. Its places are buckets; a probe's are places.
impl<W: Word> Room for Segment<'_, W> {
    type Candidates = [u64; 2];

    fn segment_bytes(&self) -> u64 {
        segment_bytes(self.codec.width, self.form) as u64
    }

    #[inline(always)]
    fn places(&self) -> u64 {
        self.form.grid.buckets()
    }

    #[inline]
    fn bit(&self, bucket: u64) -> u64 {
        bucket * self.bucket_bits
    }

    #[inline]
    fn try_insert(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> bool {
        let places = [probe.first, probe.second];
        self.push_to_one(bytes, places, self.candidates(probe), probe.fingerprint, value)
    }

    fn candidates(&self, probe: &Probe) -> [u64; 2] {
        self.buckets_of([probe.first, probe.second], probe.fingerprint)
    }

    #[inline]
    unsafe fn has_room(&self, bytes: &[u8], _base: usize, bucket: u64) -> bool {
        self.fingerprint(bytes, Position { bucket, lane: LANES - 1 }) == 0
    }

    #[inline]
    fn for_each_target(&self, bytes: &[u8], _base: usize, bucket: u64, mut each: impl FnMut(u64)) {
        let (word, stretch) = (self.load(bytes, bucket), self.form.grid.stretch(bucket));
        for lane in 0..LANES {
            let mix = self.mix(self.codec.lane(word, lane));
            let place = self.place(bytes, stretch, Position { bucket, lane }, mix);
            each(self.form.grid.bucket(mix.alternate(place), mix));
        }
    }

    fn relocate(&self, bytes: &mut [u8], _base: usize, bucket: u64, choice: usize, to: u64) {
        // At most 4 lanes.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let at = Position { bucket, lane: choice as u32 };
        let (fingerprint, value) = (self.fingerprint(bytes, at), self.value(bytes, at));
        let mix = self.mix(fingerprint);
        let place = self.place(bytes, self.form.grid.stretch(bucket), at, mix);
        self.remove_at(bytes, at);
        let slot = Slot { fingerprint, place: mix.alternate(place), value };
        let moved = self.push(bytes, to, slot);
        debug_assert!(moved, "the search found room");
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, value: u64) {
        let place = [probe.first, probe.second][candidate];
        let slot = Slot { fingerprint: probe.fingerprint, place, value };
        let put = self.push(bytes, self.candidates(probe)[candidate], slot);
        debug_assert!(put, "the search found room");
    }
}
