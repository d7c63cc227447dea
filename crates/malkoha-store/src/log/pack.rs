//! Compressed values: the length of the value in four bytes, then an LZ4 block.

use std::borrow::Cow;

use super::MAX_VALUE;

/// Shorter values are not worth trying.
const LEAST: usize = 64;
/// The part of a value that compression must save to be used.
const SAVED: usize = 8;

/// A value compressed, if that saves enough.
pub(crate) fn pack(value: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(value.len()).ok()?;
    if value.len() < LEAST {
        return None;
    }
    let mut packed = vec![0; 4 + lz4_flex::block::get_maximum_output_size(value.len())];
    packed[..4].copy_from_slice(&length.to_le_bytes());
    let bytes = 4 + lz4_flex::block::compress_into(value, &mut packed[4..]).ok()?;
    packed.truncate(bytes);
    (bytes + value.len() / SAVED <= value.len()).then_some(packed)
}

/// The decompressed value; `None` if this is not a compressed one.
#[cold]
#[inline(never)]
pub(super) fn unpack(packed: &[u8]) -> Option<Cow<'static, [u8]>> {
    let (length, block) = packed.split_first_chunk()?;
    let length = super::to_usize(u64::from(u32::from_le_bytes(*length)));
    // A byte of a block stands for at most 255 bytes.
    if length > MAX_VALUE.min(block.len().saturating_mul(255)) {
        return None;
    }
    let value = lz4_flex::block::decompress(block, length).ok()?;
    (value.len() == length).then_some(Cow::Owned(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_or_is_refused() {
        let text = b"malkoha, koel, coucal; ".repeat(50);
        let packed = pack(&text).unwrap();
        assert!(packed.len() < text.len() / 4);
        assert_eq!(unpack(&packed).unwrap(), text);
        for end in 0..packed.len() {
            assert_eq!(unpack(&packed[..end]), None, "{end}");
        }
        let mut longer = packed.clone();
        longer[3] = 0xff;
        assert_eq!(unpack(&longer), None);
        assert_eq!(pack(&text[..40]), None);
        let random: Vec<u8> =
            (0..1000_u32).map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes()[3]).collect();
        assert!(pack(&random).is_none_or(|packed| packed.len() < 900));
    }
}
