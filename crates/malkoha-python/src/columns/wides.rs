//! Integers of 128 bits and decimals in Arrow arrays.

use malkoha::KeyHasher;

use super::Rows;
use super::values::Buffer;
use crate::numbers::{self, Wide};
use crate::parts::Part;

/// Decimals are numbers of units of `10^-scale`.
pub(super) struct Kind {
    /// In bytes: 4, 8, 16 or 32.
    pub(super) width: usize,
    is_signed: bool,
    scale: i32,
}

/// By the formats `d:PRECISION,SCALE` and `d:PRECISION,SCALE,BITS`, and by those of polars for
/// integers; `None` for other types.
pub(super) fn parse(format: &str) -> Option<Kind> {
    let integers = |is_signed| Some(Kind { width: 16, is_signed, scale: 0 });
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
    Some(Kind { width, is_signed: true, scale })
}

pub(super) struct Wides {
    pub(super) units: Buffer,
    pub(super) kind: Kind,
}

impl Wides {
    fn units(&self, row: usize) -> Wide {
        match self.kind.width {
            4 => numbers::widened(self.units.read::<i32, 1>(row)[0].into()),
            8 => numbers::widened(self.units.read::<i64, 1>(row)[0].into()),
            16 => {
                let [low, high] = self.units.read::<u64, 2>(row);
                let sign = (high.cast_signed() >> 63).cast_unsigned();
                let above = if self.kind.is_signed { sign } else { 0 };
                [low, high, above, above]
            }
            _ => self.units.read(row),
        }
    }
}

impl Rows for Wides {
    fn hash(&self, hasher: KeyHasher, row: usize, hashes: &mut [u64]) {
        for (i, hash) in hashes.iter_mut().enumerate() {
            *hash = self.part(hasher, row + i).hash(hasher);
        }
    }

    fn part(&self, hasher: KeyHasher, row: usize) -> Part {
        numbers::decimal(self.units(row), self.kind.scale.into(), hasher)
    }
}
