//! Integers of 128 bits and decimals in Arrow arrays.

use malkoha::KeyHasher;

use super::values::{Buffer, Values};
use crate::numbers::{self, Wide};
use crate::parts::Part;

/// Decimals are numbers of units of `10^-scale`.
pub(super) struct Wides {
    pub(super) units: Buffer,
    /// In bytes: 4, 8, 16 or 32.
    pub(super) width: usize,
    pub(super) is_signed: bool,
    pub(super) scale: i32,
}

impl Wides {
    /// By the formats `d:PRECISION,SCALE` and `d:PRECISION,SCALE,BITS`, and by those of polars for
    /// integers; `None` for other types.
    pub(super) fn parse(format: &str) -> Option<Self> {
        let units = Buffer::NONE;
        let integers = |is_signed| Some(Self { units, width: 16, is_signed, scale: 0 });
        match format {
            "_pli128" => return integers(true),
            "_plu128" => return integers(false),
            _ => {}
        }
        let mut numbers = format.strip_prefix("d:")?.split(',').skip(1);
        let scale = numbers.next()?.parse().ok()?;
        let width = match numbers.next() {
            Some("32") => 4,
            Some("64") => 8,
            None | Some("128") => 16,
            Some("256") => 32,
            Some(_) => return None,
        };
        Some(Self { units, width, is_signed: true, scale })
    }

    /// # Safety
    ///
    /// As for [`Values`].
    unsafe fn units(&self, row: usize) -> Wide {
        // SAFETY: the caller's promise.
        unsafe {
            match self.width {
                4 => numbers::widened(self.units.read::<i32>(row).into()),
                8 => numbers::widened(self.units.read::<i64>(row).into()),
                16 => {
                    let [low, high, above, _] = numbers::widened(self.units.read(row));
                    let above = if self.is_signed { above } else { 0 };
                    [low, high, above, above]
                }
                _ => self.units.read(row),
            }
        }
    }
}

impl Values for Wides {
    unsafe fn hash(&self, hasher: KeyHasher, row: usize, hashes: &mut [u64]) {
        for (i, hash) in hashes.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *hash = unsafe { self.part(hasher, row + i) }.hash(hasher);
        }
    }

    unsafe fn part(&self, hasher: KeyHasher, row: usize) -> Part {
        // SAFETY: the caller's promise.
        numbers::decimal(unsafe { self.units(row) }, self.scale.into(), hasher)
    }
}
