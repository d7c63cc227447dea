//! Damages to files, the same ones on every machine, and what hides them.
#![expect(clippy::cast_possible_truncation, reason = "random bytes")]

use xxhash_rust::xxh3::xxh3_64_with_seed;

pub(crate) use super::random::Random;
use super::seal_header;

const HEADER: usize = 128;
/// Where fields of a header begin, and of what follows it: a segment's record or a header again.
const FIELDS: [usize; 18] =
    [13, 20, 32, 40, 48, 52, 56, 64, 80, 88, 128, 132, 134, 136, 160, 168, 176, 184];
/// Bytes of an entry of the spill list.
const SPILLED: usize = 32;

/// Changes a file in one to four ways.
pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => bytes.extend_from_within(at..),
            4 => {
                bytes.remove(at);
            }
            5 => bytes.insert(at, random.next() as u8),
            6 => {
                // An entry of the spill list.
                let end = bytes.len().saturating_sub(8 + random.below(4 * SPILLED));
                if let Some(byte) = bytes.get_mut(end) {
                    *byte = random.next() as u8;
                }
            }
            _ => {
                // A field at one of its ends.
                let field = FIELDS[random.below(FIELDS.len())];
                let width = 1 << random.below(4);
                let value = [0, 1, u64::MAX, random.next()][random.below(4)];
                if let Some(field) = bytes.get_mut(field..field + width) {
                    field.copy_from_slice(&value.to_le_bytes()[..width]);
                }
            }
        }
    }
}

/// Asserts that a file with another value in any of these fields, and right checksums, is refused.
pub(crate) fn assert_fields_are_checked(
    whole: &[u8],
    fields: &[(usize, &[usize])],
    is_refused: impl Fn(&[u8]) -> bool,
) {
    for (width, at) in
        fields.iter().flat_map(|&(width, all)| all.iter().map(move |&at| (width, at)))
    {
        for value in [0, 1, 3, 127, 255, 1 << 16, u64::from(u32::MAX), 1 << 40, u64::MAX] {
            let mut bytes = whole.to_vec();
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            seal(&mut bytes);
            assert!(bytes == whole || is_refused(&bytes), "byte {at} = {value}");
        }
    }
}

/// Puts the right checksums on a file of any kind, whatever its bytes are, as a hostile writer
/// would. `None`: its parts do not fit into it.
pub(crate) fn seal(bytes: &mut [u8]) -> Option<()> {
    seal_header(bytes.get_mut(..HEADER)?);
    match bytes[10] {
        1 | 2 => seal_fixed(bytes),
        3 | 4 => seal_growing(bytes),
        // A map of ages.
        _ => seal(&mut bytes[HEADER..]),
    }
}

fn seal_fixed(bytes: &mut [u8]) -> Option<()> {
    let segments = u32::from_le_bytes(*bytes[48..].first_chunk()?) as usize;
    let table_bytes = u64::from_le_bytes(*bytes[56..].first_chunk()?);
    let table_bytes = usize::try_from(table_bytes).ok().filter(|&all| all < bytes.len())?;
    let segment_bytes = table_bytes.checked_div(segments)?;
    for segment in 0..segments {
        let start = HEADER + segment * segment_bytes;
        let table = bytes.get(start..start + segment_bytes)?;
        let checksum = xxh3_64_with_seed(table, segment as u64);
        let at = HEADER + table_bytes + segment * 8;
        bytes.get_mut(at..at + 8)?.copy_from_slice(&checksum.to_le_bytes());
    }
    seal_spilled(bytes.get_mut(HEADER + table_bytes + segments * 8..)?)
}

fn seal_growing(bytes: &mut [u8]) -> Option<()> {
    const RECORD: usize = 16;
    let bits = u64::from(bytes[15]);
    let segments = u32::from_le_bytes(*bytes[48..].first_chunk()?);
    let mut at = HEADER;
    for number in 0..segments {
        let value_bits = u64::from(*bytes.get(at + 5)?);
        let buckets = u64::from(u16::from_le_bytes(*bytes.get(at + 6..)?.first_chunk()?));
        let low_bits = 12_u64.saturating_sub(u64::from(buckets.max(1).ilog2()));
        let slots = (buckets * 4 * (bits + 1 + low_bits + value_bits)).div_ceil(64) * 8 + 16;
        let end = at + RECORD + usize::try_from(slots).ok()?;
        let checksum = xxh3_64_with_seed(bytes.get(at..end)?, number.into());
        bytes.get_mut(end..end + 8)?.copy_from_slice(&checksum.to_le_bytes());
        at = end + 8;
    }
    seal_spilled(bytes.get_mut(at..)?)
}

/// The list of spilled copies.
fn seal_spilled(list: &mut [u8]) -> Option<()> {
    let (entries, checksum) = list.split_last_chunk_mut::<8>()?;
    *checksum = xxh3_64_with_seed(entries, u64::MAX - 1).to_le_bytes();
    Some(())
}
