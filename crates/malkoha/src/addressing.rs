//! From a 64-bit hash to (segment, place, fingerprint), and from a place to its alternate.
//!
//! | digit | bits of the hash | range |
//! | --- | --- | --- |
//! | segment | high 32, multiplied down | `0..segments` |
//! | place | low 32, multiplied down | `0..places` |
//! | fingerprint | top 32 of `hash * MIX`, multiplied down | `1..=2^bits - 1` |
//!
//! Multiplying down (Lemire's reduction) works for every range, so no size need be a power of two.
//! All steps are 32 x 32 -> 64 multiplications but one, which is what vector units have.

use core::hint::select_unpredictable;

/// An odd constant (2^64 / golden ratio): multiplication by it spreads every bit upwards.
pub(crate) const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// Its 32-bit counterpart, for fingerprints.
pub(crate) const SPREAD: u64 = 0x9e37_79b1;

pub(crate) const LOW_32: u64 = 0xffff_ffff;

/// `value * range / 2^32` for a 32-bit `value`: uniform over `0..range`.
#[inline(always)]
pub(crate) const fn scale(value: u64, range: u64) -> u64 {
    debug_assert!(value <= LOW_32 && range <= LOW_32);
    (value * range) >> 32
}

/// A value in `0..range` that depends on all of a fingerprint's bits.
#[inline(always)]
pub(crate) const fn spread(fingerprint: u64, factor: u64, range: u64) -> u64 {
    scale(fingerprint.wrapping_mul(factor) & LOW_32, range)
}

/// A number of something in memory as an index: it fits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "see above")]
pub(crate) fn index(number: u64) -> usize {
    number as usize
}

/// The two candidate places of a key in its segment, and its fingerprint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Probe {
    pub(crate) segment: u64,
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) fingerprint: u64,
}

/// Where in a table the two loads of a lookup begin, in the layout's units, and what they look for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aim {
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) fingerprint: u64,
}

/// The constants of one table's addressing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressing {
    // 32 bits each: compilers then see that every multiplication is 32 x 32 -> 64.
    segments: u32,
    places: u32,
    max_fingerprint: u32,
}

impl Addressing {
    pub(crate) fn new(segments: u32, places: u32, fingerprint_bits: u32) -> Self {
        debug_assert!(segments > 0 && places > 0 && (1..=32).contains(&fingerprint_bits));
        Self { segments, places, max_fingerprint: u32::MAX >> (32 - fingerprint_bits) }
    }

    pub(crate) fn segments(&self) -> u32 {
        self.segments
    }

    /// Places per segment.
    #[inline(always)]
    pub(crate) fn places(&self) -> u64 {
        self.places.into()
    }

    #[inline(always)]
    pub(crate) fn probe(&self, hash: u64) -> Probe {
        let segment = scale(hash >> 32, self.segments.into());
        let first = scale(hash & LOW_32, self.places());
        let fingerprint = scale(hash.wrapping_mul(MIX) >> 32, self.max_fingerprint.into()) + 1;
        Probe { segment, first, second: self.alternate(first, fingerprint), fingerprint }
    }

    /// The probe of a key whose fingerprint lies at `place`.
    pub(crate) fn occupant(&self, segment: u64, place: u64, fingerprint: u64) -> Probe {
        Probe { segment, first: place, second: self.alternate(place, fingerprint), fingerprint }
    }

    /// The probe of a key with this claimed segment, lesser place and fingerprint; `None` if no key
    /// has these.
    pub(crate) fn resident(&self, segment: u32, place: u32, fingerprint: u32) -> Option<Probe> {
        let is_possible = segment < self.segments
            && place < self.places
            && (1..=self.max_fingerprint).contains(&fingerprint);
        let probe =
            is_possible.then(|| self.occupant(segment.into(), place.into(), fingerprint.into()));
        probe.filter(|probe| probe.first <= probe.second)
    }

    /// The other place of a fingerprint that lies at `place`: `(H(fingerprint) - place) mod
    /// places`.
    ///
    /// It is its own inverse for every number of places, which the paper's exclusive-or (eq. 1, 2)
    /// is only for powers of two.
    #[inline(always)]
    pub(crate) fn alternate(&self, place: u64, fingerprint: u64) -> u64 {
        let target = spread(fingerprint, SPREAD, self.places());
        let difference = target.wrapping_sub(place);
        // Half of all keys would mispredict a branch.
        let borrow = select_unpredictable(target < place, self.places(), 0);
        difference.wrapping_add(borrow)
    }
}

/// All of this many places of all segments.
pub(crate) fn every_place(segments: u32, places: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..segments.into()).flat_map(move |segment| (0..places).map(move |place| (segment, place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned, since the file format depends on it: worked out from the table above in another
    /// language.
    #[test]
    fn known_answers() {
        let addressing = Addressing::new(1000, 16_384, 12);
        let probe = addressing.probe(0x0123_4567_89ab_cdef);
        assert_eq!(
            (probe.segment, probe.first, probe.second, probe.fingerprint),
            (4, 8810, 4999, 202)
        );
    }
}
