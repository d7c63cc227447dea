//! The parts of its keys that a table knows, slot by slot: enough to find them in another table.

use super::directory::Target;
use super::grid::{MIX_BITS, Mix, stored};
use super::matches::Matches;
use super::record::Home;
use super::segment::Slot;
use super::shape::Shape;
use super::table::Growing;
use crate::spill::SpillKey;

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
    fn new(slot: Slot, mix: Mix, Home { depth, path }: Home, shape: &Shape) -> Self {
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

    /// Calls `each` with the part of its key that each slot knows, and its value.
    pub(super) fn for_each_slot(&self, mut each: impl FnMut(&Partial, u64)) {
        for (number, record) in self.records.iter().enumerate() {
            let bytes = self.bytes(number);
            let segment = record.segment(&self.shape);
            let grid = record.form.grid;
            for bucket in scattered(grid.buckets()) {
                segment.for_each_in(bytes, bucket, |slot, mix| {
                    each(&self.partial(number, slot, mix), slot.value);
                });
            }
        }
    }

    /// The same for the spilled copies, and how many there are.
    pub(super) fn for_each_spilled(&self, mut each: impl FnMut(&Partial, u64, u64)) {
        for (key, copies) in self.spill.iter() {
            each(&self.partial_of(&key), key.value, copies);
        }
    }

    /// The part of its key that a spilled copy knows.
    pub(super) fn partial_of(&self, key: &SpillKey) -> Partial {
        let (number, fingerprint) = (key.segment as usize, key.fingerprint.into());
        let mix = self.segment(number).mix(fingerprint);
        let slot = Slot { fingerprint, place: key.place.into(), value: 0 };
        self.partial(number, slot, mix)
    }

    /// The part of its key that a slot of a segment knows.
    pub(super) fn partial(&self, number: usize, slot: Slot, mix: Mix) -> Partial {
        Partial::new(slot, mix, self.records[number].home, &self.shape)
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

/// All buckets, each far from those before it: keys that arrive in bucket order would crowd one end
/// of a segment, which could be left without room before the other end gets any keys.
fn scattered(buckets: u64) -> impl Iterator<Item = u64> {
    let is_coprime = |&step: &u64| {
        let (mut a, mut b) = (buckets, step);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    // The golden ratio's steps stay farthest apart.
    let step = (buckets * 5 / 8..).find(is_coprime).unwrap_or(1);
    (0..buckets).map(move |number| number * step % buckets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_comes_once() {
        let most = if cfg!(miri) { 30 } else { 300 };
        for buckets in (1..most).chain([4096, 6930, 8191, 8192]) {
            let mut seen: Vec<u64> = scattered(buckets).collect();
            assert!(buckets < 100 || seen[0].abs_diff(seen[1]) > buckets / 4);
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..buckets), "{buckets}");
        }
    }
}
