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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_murmurs() {
        // Computed by the C code that its author published.
        let known: [(&[u8], u64); 5] = [
            (b"", 0),
            (b"a", 0x0717_17d2_d36b_6b11),
            (b"hello", 0x1e68_d17c_457b_f117),
            (b"12345678", 0x758f_67d1_62b2_d202),
            (b"cuckoo filter of nineteen", 0x11ec_9d4c_9d30_9bff),
        ];
        for (item, hash) in known {
            assert_eq!(murmur64a(item), hash, "{item:?}");
        }
    }
}
