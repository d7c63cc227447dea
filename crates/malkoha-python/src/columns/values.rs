//! The values in the buffers of an Arrow array, by the physical type of keys. Rows are counted
//! from the start of the buffers.

use std::marker::PhantomData;
use std::ops::Range;
use std::slice;

use malkoha::KeyHasher;

use super::{Integer, Rows, hash_words};
use crate::parts::Part;

/// A buffer, which the array's owner keeps.
#[derive(Clone, Copy)]
pub(super) struct Buffer(&'static [u8]);

impl Buffer {
    /// # Safety
    ///
    /// There are `len` bytes at `start`, which is not null unless `len` is 0. They do not change,
    /// and are kept as long as the column is.
    pub(super) unsafe fn new(start: *const u8, len: usize) -> Self {
        // SAFETY: the caller's promise.
        Self(if len == 0 { &[] } else { unsafe { slice::from_raw_parts(start, len) } })
    }

    /// Integers number `range`, aligned or not.
    #[inline(always)]
    fn integers<T: Integer>(self, range: Range<usize>) -> impl Iterator<Item = T> {
        assert!(range.end <= self.0.len() / size_of::<T>());
        // SAFETY: just compared, and all bytes are values of integers.
        range.map(move |i| unsafe { self.0.as_ptr().cast::<T>().add(i).read_unaligned() })
    }

    /// Group `i` of `N` integers, aligned or not.
    #[inline(always)]
    pub(super) fn read<T: Integer, const N: usize>(self, i: usize) -> [T; N] {
        assert!(i < self.0.len() / size_of::<[T; N]>());
        // SAFETY: as in `integers`.
        unsafe { self.0.as_ptr().cast::<[T; N]>().add(i).read_unaligned() }
    }

    #[inline(always)]
    pub(super) fn bit(self, i: usize) -> bool {
        (self.0[i / 8] >> (i % 8)) & 1 == 1
    }
}

/// Integers as words.
pub(super) trait Words: Send + Sync {
    fn words(&self, row: usize, words: &mut [u64]);

    fn word(&self, row: usize) -> u64 {
        let mut word = [0];
        self.words(row, &mut word);
        word[0]
    }
}

/// Integers of one type.
pub(super) struct Of<T>(pub(super) Buffer, pub(super) PhantomData<fn() -> T>);

impl<T: Integer> Words for Of<T> {
    fn words(&self, row: usize, words: &mut [u64]) {
        let integers = self.0.integers::<T>(row..row + words.len());
        words.iter_mut().zip(integers).for_each(|(word, integer)| *word = integer.word());
    }
}

/// Booleans, as 0 and 1.
pub(super) struct Bits(pub(super) Buffer);

impl Words for Bits {
    fn words(&self, row: usize, words: &mut [u64]) {
        for (i, word) in words.iter_mut().enumerate() {
            *word = self.0.bit(row + i).into();
        }
    }
}

pub(super) struct Integers(pub(super) Box<dyn Words>);

impl Rows for Integers {
    fn hash(&self, hasher: KeyHasher, row: usize, hashes: &mut [u64]) {
        hash_words(hasher, hashes, |words| self.0.words(row, words));
    }

    fn part(&self, _: KeyHasher, row: usize) -> Part {
        Part::Word(self.0.word(row))
    }
}

/// Nothing but nulls.
pub(super) struct Nothing;

impl Rows for Nothing {
    fn hash(&self, _: KeyHasher, _: usize, _: &mut [u64]) {}

    fn has_nulls(&self) -> bool {
        true
    }

    fn is_null(&self, _row: usize) -> bool {
        true
    }
}

/// Where each value ends in another buffer or column: value `i` begins at item `i` and ends at item
/// `i + 1`.
pub(super) struct Ends<T>(pub(super) Buffer, pub(super) PhantomData<fn() -> T>);

impl<T: Integer> Ends<T> {
    #[inline(always)]
    pub(super) fn range(&self, row: usize) -> Range<usize> {
        let mut ends = self.0.integers::<T>(row..row + 2).map(Integer::word);
        // Offsets into memory fit a usize.
        let mut end = || ends.next().and_then(|end| end.try_into().ok()).unwrap_or(usize::MAX);
        end()..end()
    }
}

/// Text or binary in one buffer.
pub(super) struct Text<T> {
    pub(super) ends: Ends<T>,
    pub(super) text: Buffer,
}

impl<T: Integer> Rows for Text<T> {
    #[inline(always)]
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        Some(&self.text.0[self.ends.range(row)])
    }
}

/// Text or binary by views of 16 bytes: a length, and then the value itself if it has at most 12
/// bytes, or its first four, the number of its buffer, and where it begins there.
pub(super) struct Views {
    pub(super) views: Buffer,
    pub(super) texts: Vec<Buffer>,
    /// The view of a null can be anything, and point anywhere.
    pub(super) valid: Option<Buffer>,
}

impl Rows for Views {
    #[inline(always)]
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        const INLINE: usize = 12;
        if self.valid.is_some_and(|valid| !valid.bit(row)) {
            return None;
        }
        let [len, _, buffer, start] = self.views.read::<u32, 4>(row).map(|word| word as usize);
        let (bytes, start) = if len <= INLINE {
            (self.views, row * 16 + 4)
        } else {
            (*self.texts.get(buffer)?, start)
        };
        bytes.0.get(start..start + len)
    }
}

/// Binary of one width.
pub(super) struct Fixed {
    pub(super) text: Buffer,
    pub(super) width: usize,
}

impl Rows for Fixed {
    #[inline(always)]
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        let start = row * self.width;
        Some(&self.text.0[start..start + self.width])
    }
}
