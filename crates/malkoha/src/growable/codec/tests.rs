//! Codecs against fingerprints that are compared one by one.

use super::*;
use crate::layout::bits::write;
use proptest::prelude::*;

/// Against the same, lane by lane.
fn agrees<const N: usize>(
    codec: &Codec<N>,
    lanes: [u64; 4],
    wanted: u64,
    partial: u64,
    len: usize,
) {
    let bits = codec.bits;
    let mask = (2 << bits) - 1;
    let lanes: Vec<u64> =
        (0..4).map(|i| if i < len { (lanes[i] & mask).max(1) } else { 0 }).collect();
    let wanted = wanted & mask | 1;
    // At any half byte.
    let (mut bytes, begin) = ([0xff; 32], 4 * (len as u64 % 2));
    for (i, &lane) in (0..).zip(&lanes) {
        write(&mut bytes, 0, begin + i * u64::from(codec.width), codec.width, lane);
    }
    let word = codec.load(&bytes, begin);
    for (i, &lane) in (0..).zip(&lanes) {
        assert_eq!(codec.lane(word, i), lane);
        let half = word.halves(codec.width)[i as usize / 2] >> (i % 2 * codec.width);
        assert_eq!(half & mask, lane);
    }
    let begins = |lane: u64| lane != 0 && (lane ^ wanted) & !(lane ^ (lane - 1)) == 0;
    let flagged = |mut found: FourLanes<N>| {
        let mut flagged = [false; 4];
        while found != FourLanes::ZERO {
            flagged[codec.lane_of(found) as usize] = true;
            found = found.but_first();
        }
        flagged
    };
    let found = flagged(codec.matches(word, wanted));
    assert_eq!(found.to_vec(), lanes.iter().map(|&lane| begins(lane)).collect::<Vec<_>>());
    let found = flagged(codec.related(word, partial));
    for (found, &lane) in found.into_iter().zip(&lanes) {
        let beyond = (lane ^ lane.wrapping_sub(1)) | (partial ^ (partial - 1));
        assert_eq!(found, lane != 0 && (lane ^ partial) & !beyond == 0, "{lane:x}");
    }
    let any = lanes.iter().any(|&lane| begins(lane));
    let everywhere = codec.broadcast(wanted);
    assert_eq!(codec.contains(word, FourLanes::ZERO, everywhere), any);
    assert_eq!(codec.contains(FourLanes::ZERO, word, everywhere), any);
    assert_eq!(codec.len(word) as usize, len);
    let upper = lanes.iter().filter(|&&lane| lane >> (bits - MIX_BITS) & 1 == 1).count();
    assert_eq!(codec.upper(word) as usize, upper);
}

proptest! {
    /// In slots of another width a fingerprint keeps all that there is room for.
    #[test]
    fn other_widths_keep_what_they_can(
        from in 8..=30_u32, to in 8..=30_u32, string: u64, cut: u32,
    ) {
        let known = from - cut % (from - 7);
        let first = |known: u32| string & !(u64::MAX >> known);
        // The first bits, the mark, and zeros up to `bits` and the mark of a full one.
        let stored = |known: u32, bits: u32| (first(known) | 1 << (63 - known)) >> (63 - bits);
        let kept = known.min(to);
        prop_assert_eq!(refitted(stored(known, from), from, to), stored(kept, to));
        // Put together with its sibling, one has a bit more behind those that stay.
        let [codec, other] = [from, to].map(Codec::<2>::new);
        for half in [0, 1] {
            let whole = codec.whole_in(&other, half, stored(known, from));
            prop_assert_eq!(other.length(whole), (known + 1).min(to));
            if known < to.min(from) {
                let (found, rest) = other.split(whole);
                prop_assert_eq!((found, rest), (half, stored(known, to)));
            }
        }
    }

    #[test]
    fn words_agree_with_lanes(
        bits in 8..=30_u32, lanes: [u64; 4], wanted: u64, len in 0..=4_usize, near in 0..4_usize,
        marks: [u8; 4], short in 0..30_u32,
    ) {
        // Shorter strings too, and one of which the wanted one is a continuation.
        let mut lanes = std::array::from_fn(|i| {
            let zeros = u32::from(marks[i]) % bits;
            lanes[i] >> zeros << zeros | 1 << zeros
        });
        let zeros = u32::from(marks[near]) % bits;
        lanes[near] = wanted >> zeros << zeros | 1 << zeros;
        // One that is shorter, too.
        let (mask, short) = ((2 << bits) - 1, short % bits);
        let partial = (wanted & mask) >> short << short | 1 << short;
        agrees(&Codec::<2>::new(bits), lanes, wanted, partial, len);
        if bits <= 14 {
            agrees(&Codec::<1>::new(bits), lanes, wanted, partial, len);
        }
    }
}
