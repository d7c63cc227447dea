//! The parts of its keys that a table knows, slot by slot: enough to find them in another table.

use super::directory::Target;
use super::grid::{MIX_BITS, Mix, stored};
use super::matches::Matches;
use super::record::Home;
use super::segment::Slot;
use super::shape::Shape;
use super::table::Growing;

/// The part of a key that a slot knows.
#[derive(Clone, Copy)]
pub(super) struct Partial {
    /// The first bits of the key's string, then zeros.
    string: u64,
    /// How many bits of the string are known.
    pub(super) known: u32,
    places: [u64; 2],
    mix: Mix,
}

impl Partial {
    /// Of a slot in a table of this shape.
    pub(super) fn new(slot: Slot, mix: Mix, Home { depth, path }: Home, shape: &Shape) -> Self {
        let bits = shape.widths.at(depth);
        // Without the mark.
        let stored = slot.fingerprint & slot.fingerprint.wrapping_sub(1);
        let kept = (stored >> (bits + 1 - MIX_BITS)) << (64 - MIX_BITS);
        let rest = stored & ((2 << (bits - MIX_BITS)) - 1);
        // In two steps, because the depth can be 0.
        let path = (path << 1 << (63 - depth)) | (rest << (63 - depth - (bits - MIX_BITS)));
        Self {
            string: kept | path >> MIX_BITS,
            known: (depth + bits).saturating_sub(slot.fingerprint.trailing_zeros()),
            places: [slot.place, mix.alternate(slot.place)],
            mix,
        }
    }

    /// The fingerprint in a segment at this depth of a table of this shape.
    pub(super) fn fingerprint(&self, shape: &Shape, depth: u32) -> u64 {
        let bits = shape.widths.at(depth);
        let unknown = bits - self.known.saturating_sub(depth).clamp(MIX_BITS, bits);
        (((stored(self.string, depth, bits) >> unknown) << 1) | 1) << unknown
    }

    /// The first bits of what is known, at most this many.
    pub(super) fn cut(self, known: u32) -> Self {
        if known >= self.known {
            return self;
        }
        Self { known, string: self.string & !(u64::MAX >> known), ..self }
    }
}

impl Growing {
    /// The segment and the fingerprint of a key; enough of its path must be known.
    pub(super) fn aim_at(&self, partial: &Partial) -> Target {
        let entry = self.directory.find(partial.string << MIX_BITS);
        let fingerprint = partial.fingerprint(&self.shape, entry.word.depth());
        Target::new(entry, entry.word.any_codec(), partial.places, partial.mix, fingerprint)
    }

    /// The two keys with 0 and 1 as the next bit, if too little is known to tell the segment.
    pub(super) fn halves(&self, partial: &Partial) -> Option<[Partial; 2]> {
        let Partial { string, known, .. } = *partial;
        if self.directory.find(string << MIX_BITS).word.depth() + MIX_BITS <= known {
            return None;
        }
        let half = |bit: u64| Partial {
            known: known + 1,
            string: string | bit << (63 - known),
            ..*partial
        };
        Some([half(0), half(1)])
    }

    /// Calls `each` with the part of its key that each slot knows, its value and 1, then with those
    /// of the spilled copies and how many they are.
    pub(super) fn for_each_copy(&self, mut each: impl FnMut(&Partial, u64, u64)) {
        for (number, record) in self.records.iter().enumerate() {
            let (bytes, segment) = (self.bytes(number), record.segment(&self.shape));
            for bucket in scattered(record.form.grid.buckets()) {
                segment.for_each_in(bytes, bucket, |_, slot, mix| {
                    each(&Partial::new(slot, mix, record.home, &self.shape), slot.value, 1);
                });
            }
        }
        for (key, copies) in self.spill.iter() {
            let (fingerprint, place, value) = (key.fingerprint.into(), key.place.into(), key.value);
            let record = &self.records[key.segment as usize];
            let mix = record.segment(&self.shape).mix(fingerprint);
            let slot = Slot { fingerprint, place, value };
            each(&Partial::new(slot, mix, record.home, &self.shape), value, copies);
        }
    }

    /// The slots at the key's places whose fingerprints begin its own or continue it.
    pub(super) fn related(&self, target: &Target) -> Matches {
        let mut found =
            self.slots_of(target, |codec, bucket| codec.related(bucket, target.spot.fingerprint));
        if target.entry.word.has_stash() {
            self.find_related(target, &mut found);
        }
        found
    }
}

/// All buckets. Where there are many, in rounds that each go through the whole segment: keys that
/// arrive in bucket order would crowd one end of it, and leave that without room before the other
/// end gets any keys.
fn scattered(buckets: u64) -> impl Iterator<Item = u64> {
    const ROUNDS: usize = 64;
    (0..ROUNDS as u64).flat_map(move |first| (first..buckets).step_by(ROUNDS))
}
