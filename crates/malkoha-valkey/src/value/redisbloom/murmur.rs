//! MurmurHash64A by Austin Appleby, who put it into the public domain, with seed 0: what RedisBloom
//! hashes items with. It does not protect against attackers who choose items.

const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
const SHIFT: u32 = 47;

pub(super) fn murmur64a(item: &[u8]) -> u64 {
    let (words, rest) = item.as_chunks::<8>();
    let start = (item.len() as u64).wrapping_mul(FACTOR);
    let hash = words.iter().fold(start, |hash, &word| {
        let word = u64::from_le_bytes(word).wrapping_mul(FACTOR);
        (hash ^ (word ^ word >> SHIFT).wrapping_mul(FACTOR)).wrapping_mul(FACTOR)
    });
    let hash = if rest.is_empty() {
        hash
    } else {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR)
    };
    let hash = (hash ^ hash >> SHIFT).wrapping_mul(FACTOR);
    hash ^ hash >> SHIFT
}
