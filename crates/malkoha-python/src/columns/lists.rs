//! Lists in Arrow arrays.

use std::ops::Range;

use malkoha::KeyHasher;

use super::values::{Ends, Values, Words};
use super::{Column, Integer};
use crate::parts;

/// Lists of the items of a column.
pub(super) struct Lists {
    pub(super) ranges: Box<dyn Ranges>,
    pub(super) items: Box<dyn Column>,
}

impl Lists {
    /// The items of a list. Those of a null can be anywhere.
    ///
    /// # Safety
    ///
    /// As for [`Values`].
    unsafe fn range(&self, row: usize) -> Range<usize> {
        // SAFETY: the caller's promise.
        let range = unsafe { self.ranges.range(row) };
        if range.end <= self.items.len() { range } else { 0..0 }
    }
}

impl Values for Lists {
    unsafe fn hash(&self, hasher: KeyHasher, row: usize, hashes: &mut [u64]) {
        let mut items = Vec::new();
        for (i, hash) in hashes.iter_mut().enumerate() {
            items.clear();
            // SAFETY: the caller's promise.
            let range = unsafe { self.range(row + i) };
            items.extend(range.map(|item| self.items.part(hasher, item)));
            *hash = parts::list(&items, hasher);
        }
    }

    fn has_nulls(&self) -> bool {
        self.items.has_nulls()
    }

    unsafe fn is_null(&self, row: usize) -> bool {
        // SAFETY: the caller's promise.
        self.has_nulls() && unsafe { self.range(row) }.any(|item| self.items.is_null(item))
    }
}

/// Where the items of each list are.
pub(super) trait Ranges: Send + Sync {
    /// # Safety
    ///
    /// As for [`Values`].
    unsafe fn range(&self, row: usize) -> Range<usize>;
}

impl<T: Integer> Ranges for Ends<T> {
    unsafe fn range(&self, row: usize) -> Range<usize> {
        // SAFETY: the caller's promise.
        unsafe { self.end(row)..self.end(row + 1) }
    }
}

/// The first item of each list, and their number.
pub(super) struct Spans(pub(super) [Box<dyn Words>; 2]);

impl Ranges for Spans {
    unsafe fn range(&self, row: usize) -> Range<usize> {
        let [first, len] = self.0.each_ref().map(|numbers| {
            let mut number = [0];
            // SAFETY: the caller's promise.
            unsafe { numbers.words(row, &mut number) };
            usize::try_from(number[0]).unwrap_or(usize::MAX)
        });
        first..first.saturating_add(len)
    }
}

/// Lists of this length.
pub(super) struct Every(pub(super) usize);

impl Ranges for Every {
    unsafe fn range(&self, row: usize) -> Range<usize> {
        row.saturating_mul(self.0)..(row + 1).saturating_mul(self.0)
    }
}
