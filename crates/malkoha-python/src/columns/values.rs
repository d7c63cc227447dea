//! The values in the buffers of an Arrow array, for each physical type of keys.
//!
//! A producer promises that buffers are as long as the array's length, offset and values say, and
//! that they do not change. No consumer can check the first: the interface has no lengths.

use std::marker::PhantomData;
use std::slice;

use malkoha::KeyHasher;

use super::{Integer, hash_words};
use crate::parts::Part;

/// The start of a buffer, which the array's owner keeps.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Buffer(pub(super) *const u8);

// SAFETY: the buffers of an array do not change, and are kept as long as the column is.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub(super) const NONE: Self = Self(std::ptr::null());

    /// # Safety
    ///
    /// The buffer has an item `i` of this type, aligned or not.
    #[inline(always)]
    pub(super) unsafe fn read<T: Copy>(self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.0.cast::<T>().add(i).read_unaligned() }
    }

    /// # Safety
    ///
    /// The buffer has this many bytes from `start` on, and is kept while they are used.
    #[inline(always)]
    unsafe fn bytes<'a>(self, start: usize, len: usize) -> &'a [u8] {
        if len == 0 {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe { slice::from_raw_parts(self.0.add(start), len) }
    }

    /// # Safety
    ///
    /// The buffer has bit `i`.
    #[inline(always)]
    pub(super) unsafe fn bit(self, i: usize) -> bool {
        // SAFETY: the caller's promise.
        unsafe { (self.read::<u8>(i / 8) >> (i % 8)) & 1 == 1 }
    }
}

/// The values of an array's rows, counted from the start of its buffers.
///
/// # Safety of its methods
///
/// The array has these rows, and its buffers are what its type says.
pub(super) trait Values: Send + Sync {
    /// What it writes for a null is meaningless.
    ///
    /// # Safety
    ///
    /// As the trait says.
    unsafe fn hash(&self, hasher: KeyHasher, row: usize, hashes: &mut [u64]) {
        for (i, hash) in hashes.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *hash = hasher.hash_bytes(unsafe { self.bytes(row + i) }.unwrap_or_default());
        }
    }

    /// # Safety
    ///
    /// As the trait says.
    unsafe fn part(&self, hasher: KeyHasher, row: usize) -> Part {
        let mut hash = [0];
        // SAFETY: the caller's promise.
        unsafe { self.hash(hasher, row, &mut hash) };
        Part::Hash(hash[0])
    }

    /// Whether a value can be null by itself.
    fn has_nulls(&self) -> bool {
        false
    }

    /// # Safety
    ///
    /// As the trait says.
    unsafe fn is_null(&self, _row: usize) -> bool {
        false
    }

    /// The bytes of text or binary; `None` for other types, and for some nulls.
    ///
    /// # Safety
    ///
    /// As the trait says.
    unsafe fn bytes(&self, _row: usize) -> Option<&[u8]> {
        None
    }
}

/// Integers as words.
pub(super) trait Words: Send + Sync {
    /// # Safety
    ///
    /// As for [`Values`].
    unsafe fn words(&self, row: usize, words: &mut [u64]);
}

/// Integers of one type.
pub(super) struct Of<T>(Buffer, PhantomData<fn() -> T>);

impl<T: Integer> Of<T> {
    pub(super) fn boxed(values: Buffer) -> Box<dyn Words> {
        Box::new(Self(values, PhantomData))
    }
}

impl<T: Integer> Words for Of<T> {
    unsafe fn words(&self, row: usize, words: &mut [u64]) {
        for (i, word) in words.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *word = unsafe { self.0.read::<T>(row + i) }.word();
        }
    }
}

/// Booleans, as 0 and 1.
pub(super) struct Bits(pub(super) Buffer);

impl Words for Bits {
    unsafe fn words(&self, row: usize, words: &mut [u64]) {
        for (i, word) in words.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *word = unsafe { self.0.bit(row + i) }.into();
        }
    }
}

pub(super) struct Integers(pub(super) Box<dyn Words>);

impl Values for Integers {
    unsafe fn hash(&self, hasher: KeyHasher, row: usize, hashes: &mut [u64]) {
        hash_words(hasher, hashes, |words| {
            // SAFETY: the caller's promise.
            unsafe { self.0.words(row, words) };
        });
    }

    unsafe fn part(&self, _: KeyHasher, row: usize) -> Part {
        let mut word = [0];
        // SAFETY: the caller's promise.
        unsafe { self.0.words(row, &mut word) };
        Part::Word(word[0])
    }
}

/// Nothing but nulls.
pub(super) struct Nothing;

impl Values for Nothing {
    unsafe fn hash(&self, _: KeyHasher, _: usize, _: &mut [u64]) {}

    fn has_nulls(&self) -> bool {
        true
    }

    unsafe fn is_null(&self, _row: usize) -> bool {
        true
    }
}

/// Text or binary in one buffer, with where each value ends in another: value `i` begins at item
/// `i` and ends at item `i + 1`.
pub(super) struct Ends<T> {
    ends: Buffer,
    text: Buffer,
    integer: PhantomData<fn() -> T>,
}

impl<T: Integer> Ends<T> {
    pub(super) fn new(ends: Buffer, text: Buffer) -> Self {
        Self { ends, text, integer: PhantomData }
    }

    /// # Safety
    ///
    /// There is an item `i`.
    #[inline(always)]
    pub(super) unsafe fn end(&self, i: usize) -> usize {
        // SAFETY: the caller's promise. What is in memory can be counted in a usize.
        unsafe { self.ends.read::<T>(i) }.word().try_into().unwrap_or(usize::MAX)
    }
}

impl<T: Integer> Values for Ends<T> {
    #[inline(always)]
    unsafe fn bytes(&self, row: usize) -> Option<&[u8]> {
        // SAFETY: the caller's promise.
        Some(unsafe {
            let start = self.end(row);
            self.text.bytes(start, self.end(row + 1).saturating_sub(start))
        })
    }
}

/// Text or binary by views of 16 bytes: a length, and then the value itself if it has at most 12
/// bytes, or its first four, the number of its buffer, and where it begins there.
pub(super) struct Views {
    pub(super) views: Buffer,
    pub(super) texts: Vec<Buffer>,
    /// The view of a null can be anything, and point anywhere.
    pub(super) valid: Buffer,
}

impl Values for Views {
    #[inline(always)]
    unsafe fn bytes(&self, row: usize) -> Option<&[u8]> {
        const INLINE: usize = 12;
        // SAFETY: the caller's promise; the bits are there unless the pointer is null.
        if self.valid != Buffer::NONE && !unsafe { self.valid.bit(row) } {
            return None;
        }
        // SAFETY: the caller's promise.
        let [len, _, buffer, start] = unsafe { self.views.read::<[u32; 4]>(row) };
        let [len, buffer, start] = [len, buffer, start].map(|word| word as usize);
        // SAFETY: the caller's promise.
        unsafe {
            if len <= INLINE {
                Some(self.views.bytes(row * 16 + 4, len))
            } else {
                self.texts.get(buffer).map(|text| text.bytes(start, len))
            }
        }
    }
}

/// Binary of one width.
pub(super) struct Fixed {
    pub(super) text: Buffer,
    pub(super) width: usize,
}

impl Values for Fixed {
    #[inline(always)]
    unsafe fn bytes(&self, row: usize) -> Option<&[u8]> {
        // SAFETY: the caller's promise.
        Some(unsafe { self.text.bytes(row * self.width, self.width) })
    }
}
