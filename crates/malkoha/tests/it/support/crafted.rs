//! Hashes that are chosen with the knowledge of how growing tables derive places and strings.

/// The constant that makes a string of a hash.
pub(crate) const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of a string. Odd numbers have an inverse.
pub(crate) fn hash(string: u64) -> u64 {
    let inverse =
        (0..6).fold(1_u64, |x, _| x.wrapping_mul(2_u64.wrapping_sub(MIX.wrapping_mul(x))));
    string.wrapping_mul(inverse)
}

/// Hashes whose strings begin with this many zeros, which choose the alternate place and the
/// segment.
pub(crate) fn in_one_segment(zeros: u32) -> impl Iterator<Item = u64> {
    (0_u64..).map(move |n| hash(n.wrapping_mul(MIX) >> zeros))
}

/// The same with one first place: all belong in two buckets, whatever the size of their segment.
pub(crate) fn in_one_place(zeros: u32) -> impl Iterator<Item = u64> {
    in_one_segment(zeros).filter(|hash| hash >> 20 & 0xfff == 77)
}

/// Hashes of keys that nobody chose.
pub(crate) fn honest(keys: u64) -> Vec<u64> {
    use malkoha::Key as _;
    (0..keys).map(|key| key.hash_with(malkoha::KeyHasher::new(7))).collect()
}
