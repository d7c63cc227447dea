//! Lists in Arrow arrays.

use std::ops::Range;

use malkoha::KeyHasher;

use super::values::{Ends, Words};
use super::{Column, Integer, Rows};
use crate::parts;

/// Lists of the items of a column.
pub(super) struct Lists {
    pub(super) ranges: Box<dyn Ranges>,
    pub(super) items: Box<dyn Column>,
}

impl Lists {
    /// The items of a list. Those of a null can be anywhere.
    fn range(&self, row: usize) -> Range<usize> {
        let range = self.ranges.range(row);
        if range.end <= self.items.len() { range } else { 0..0 }
    }
}

impl Rows for Lists {
    fn hash(&self, hasher: KeyHasher, row: usize, hashes: &mut [u64]) {
        let mut items = Vec::new();
        for (i, hash) in hashes.iter_mut().enumerate() {
            items.clear();
            items.extend(self.range(row + i).map(|item| self.items.part(hasher, item)));
            *hash = parts::list(&items, hasher);
        }
    }

    fn has_nulls(&self) -> bool {
        self.items.has_nulls()
    }

    fn is_null(&self, row: usize) -> bool {
        self.has_nulls() && self.range(row).any(|item| self.items.is_null(item))
    }
}

/// Where the items of each list are.
pub(super) trait Ranges: Send + Sync {
    fn range(&self, row: usize) -> Range<usize>;
}

impl<T: Integer> Ranges for Ends<T> {
    fn range(&self, row: usize) -> Range<usize> {
        Self::range(self, row)
    }
}

/// The first item of each list, and their number.
pub(super) struct Spans(pub(super) [Box<dyn Words>; 2]);

impl Ranges for Spans {
    fn range(&self, row: usize) -> Range<usize> {
        let numbers = self.0.each_ref().map(|words| words.word(row));
        let [first, len] = numbers.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        first..first.saturating_add(len)
    }
}

/// Lists of this length.
pub(super) struct Every(pub(super) usize);

impl Ranges for Every {
    fn range(&self, row: usize) -> Range<usize> {
        row.saturating_mul(self.0)..(row + 1).saturating_mul(self.0)
    }
}
