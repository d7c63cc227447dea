//! Where a key belongs: its segment, its two buckets there, and what a slot would hold.

use super::any_codec::AnyCodec;
use super::directory::Entry;
use super::grid::{MIX_BITS, Mix, PLACE_BITS};
use super::segment::{Spot, bucket_bits};
use super::table::{Growing, narrow};
use crate::addressing::{LOW_32, MIX};
use crate::spill::SpillKey;

/// The parts of a hash: two places, and a string of bits of which a slot stores the first that its
/// segment does not imply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyBits {
    pub(crate) places: [u64; 2],
    pub(crate) mix: Mix,
    /// a_1 is the highest bit.
    pub(crate) string: u64,
    /// The string behind the bits that choose the alternate place.
    pub(crate) path: u64,
}

impl KeyBits {
    #[inline(always)]
    pub(crate) fn of(hash: u64) -> Self {
        Self::with(hash, Mix::of)
    }

    /// [`of`](Self::of) for loops that are to be vectorised: computes the mix instead of looking it
    /// up.
    #[inline(always)]
    pub(super) fn of_many(hash: u64) -> Self {
        Self::with(hash, Mix::computed)
    }

    #[inline(always)]
    fn with(hash: u64, mix: impl Fn(u64) -> Mix) -> Self {
        let string = hash.wrapping_mul(MIX);
        let first = (hash & LOW_32) >> (32 - PLACE_BITS);
        let mix = mix(string >> (64 - MIX_BITS));
        Self { places: [first, mix.alternate(first)], mix, string, path: string << MIX_BITS }
    }

    /// The fingerprint of a key that arrives in a segment at `depth`: `bits` bits and the mark.
    #[inline(always)]
    pub(super) fn fingerprint(&self, depth: u32, bits: u32) -> u64 {
        (stored(self.string, depth, bits) << 1) | 1
    }
}

/// The bits of a string that a slot of `bits` bits at this depth has room for.
#[inline(always)]
pub(super) fn stored(string: u64, depth: u32, bits: u32) -> u64 {
    let (kept, path) = (string >> (64 - MIX_BITS), string << MIX_BITS << depth);
    ((kept << (64 - MIX_BITS)) | (path >> MIX_BITS)) >> (u64::BITS - bits)
}

/// Where a key belongs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) entry: Entry,
    /// Its segment's.
    pub(super) any_codec: &'static AnyCodec,
    /// Its fingerprint has all the bits of a key that arrives, or all that are known of another
    /// table's.
    pub(super) spot: Spot,
}

impl Target {
    #[inline(always)]
    pub(super) fn new(
        entry: Entry,
        any_codec: &'static AnyCodec,
        places: [u64; 2],
        mix: Mix,
        fingerprint: u64,
    ) -> Self {
        let grid = entry.word.form().grid;
        let buckets = if grid.is_grouped() {
            places.map(|place| grid.bucket_in_group(place, mix))
        } else {
            places.map(|place| grid.bucket(place, mix))
        };
        Self { entry, any_codec, spot: Spot { places, buckets, fingerprint } }
    }

    /// How many bits a fingerprint and the path of its segment know of a key's string: each split
    /// since the key arrived moved the mark up.
    #[inline(always)]
    pub(super) fn known_bits(&self, fingerprint: u64) -> usize {
        let most = self.entry.word.depth() + self.any_codec.bits;
        most.saturating_sub(fingerprint.trailing_zeros()) as usize
    }

    #[inline(always)]
    pub(super) fn number(&self) -> usize {
        self.entry.word.number()
    }

    pub(super) fn spill_key(&self, fingerprint: u64, value: u64) -> SpillKey {
        let place = narrow(self.spot.places[0].min(self.spot.places[1]));
        SpillKey {
            segment: narrow(self.number() as u64),
            place,
            fingerprint: narrow(fingerprint),
            value,
        }
    }
}

impl Growing {
    #[inline(always)]
    pub(super) fn target(&self, hash: u64) -> Target {
        match self.plain {
            Some(any_codec) => self.plain_target(any_codec, hash),
            None => self.target_in_any(hash),
        }
    }

    /// In a table that is [plain](Self::plain).
    #[inline(always)]
    pub(super) fn plain_target(&self, any_codec: &'static AnyCodec, hash: u64) -> Target {
        let key = KeyBits::of(hash);
        let entry = self.directory.find(key.path);
        let fingerprint = key.fingerprint(entry.word.depth(), self.near.bits);
        Target::new(entry, any_codec, key.places, key.mix, fingerprint)
    }

    #[cold]
    #[inline(never)]
    fn target_in_any(&self, hash: u64) -> Target {
        let key = KeyBits::of(hash);
        let entry = self.directory.find(key.path);
        let any_codec = entry.word.any_codec();
        let fingerprint = key.fingerprint(entry.word.depth(), any_codec.bits);
        Target::new(entry, any_codec, key.places, key.mix, fingerprint)
    }

    #[inline(always)]
    pub(super) fn bits_of(&self, codec_width: u32, target: &Target) -> [u64; 2] {
        let bits = bucket_bits(codec_width, target.entry.word.form());
        target.spot.buckets.map(|bucket| bucket * bits)
    }
}
