//! Damages to files, the same ones on every machine.
#![expect(clippy::cast_possible_truncation, reason = "random bytes")]

pub(crate) use super::random::Random;

/// Bytes of an entry of the spill list.
const SPILLED: usize = 32;

/// Changes a file in one to four ways; `fields` are fields of it, with their bytes.
pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Random, fields: &[(usize, usize)]) {
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
                let (field, width) = fields[random.below(fields.len())];
                let value = [0, 1, u64::MAX, random.next()][random.below(4)];
                if let Some(field) = bytes.get_mut(field..field + width) {
                    field.copy_from_slice(&value.to_le_bytes()[..width]);
                }
            }
        }
    }
}
