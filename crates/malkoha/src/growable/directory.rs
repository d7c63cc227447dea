//! Which segment holds a key: the root's entries, indexed by the first bits of the key's string.

use std::mem;

use super::grid::Grid;
use super::table::Record;

/// Segments at most.
pub(super) const MAX_SEGMENTS: usize = u32::MAX as usize;

/// What a lookup must know about a segment, in 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) number: u32,
    buckets: u16,
    depth: u8,
    value_bits: u8,
}

/// How a segment is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) grid: Grid,
    /// Bits of a value beside each fingerprint.
    pub(crate) value_bits: u32,
}

/// Where a segment hangs: below `root`, at `path`, the first `depth` bits of its keys' strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) root: u32,
    pub(crate) depth: u32,
    pub(crate) path: u64,
}

/// 2^depth entries for each root. A segment that is less deep has several in a row.
///
/// 8 bytes for some 25,000 keys. Doubling it copies that: 64 KiB at 100 million keys, a small part
/// of what a segment's split moves.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    entries: Vec<Entry>,
    depth: u32,
}

impl Entry {
    pub(super) fn new(number: usize, form: Form, home: Home) -> Self {
        let fits = "a segment's numbers are within their limits";
        Self {
            number: u32::try_from(number).expect(fits),
            buckets: u16::try_from(form.grid.buckets()).expect(fits),
            depth: u8::try_from(home.depth).expect(fits),
            value_bits: u8::try_from(form.value_bits).expect(fits),
        }
    }

    #[inline(always)]
    pub(super) fn depth(self) -> u32 {
        self.depth.into()
    }

    #[inline(always)]
    pub(super) fn form(self) -> Form {
        Form { grid: Grid::new(self.buckets.into()), value_bits: self.value_bits.into() }
    }
}

impl Home {
    /// The half of this home that the next bit of the string leads to.
    pub(super) fn child(self, bit: u64) -> Self {
        Self { depth: self.depth + 1, path: self.path << 1 | bit, ..self }
    }
}

impl Directory {
    /// One segment for each root, numbered as they are.
    pub(super) fn new(roots: u32, form: Form) -> Self {
        let home = |root| Home { root, depth: 0, path: 0 };
        let entries = (0..roots).map(|root| Entry::new(root as usize, form, home(root)));
        Self { entries: entries.collect(), depth: 0 }
    }

    /// The directory of these segments; `None` if they do not cover everything once.
    pub(super) fn of(records: &[Record], roots: u32) -> Option<Self> {
        let depth = records.iter().map(|record| record.home.depth).max()?;
        let len = u64::from(roots) << depth;
        // Segments differ little in depth; only a hostile file has few and one very deep.
        if len > 1024 + 64 * records.len() as u64 || records.len() > MAX_SEGMENTS {
            return None;
        }
        // No segment has this number.
        let vacant = Entry { number: u32::MAX, buckets: 1, depth: 0, value_bits: 0 };
        let mut directory = Self { entries: vec![vacant; usize::try_from(len).ok()?], depth };
        for (number, &Record { home, form, .. }) in records.iter().enumerate() {
            for entry in directory.entries_of(home) {
                if mem::replace(entry, Entry::new(number, form, home)) != vacant {
                    return None;
                }
            }
        }
        directory.entries.iter().all(|&entry| entry != vacant).then_some(directory)
    }

    /// The segment of a key.
    #[inline(always)]
    pub(super) fn find(&self, root: u64, string: u64) -> Entry {
        // In two steps, because the depth may be 0. In memory, so it fits usize.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let index = ((root << self.depth) | ((string >> 1) >> (63 - self.depth))) as usize;
        self.entries[index]
    }

    /// Lets the entries of `home` name this segment.
    pub(super) fn point(&mut self, home: Home, number: usize, form: Form) {
        if home.depth > self.depth {
            self.entries = self.entries.iter().flat_map(|&entry| [entry; 2]).collect();
            self.depth += 1;
        }
        self.entries_of(home).fill(Entry::new(number, form, home));
    }

    fn entries_of(&mut self, home: Home) -> &mut [Entry] {
        let below = self.depth - home.depth;
        let start = (u64::from(home.root) << self.depth) + (home.path << below);
        let start = usize::try_from(start).expect("in memory");
        &mut self.entries[start..start + (1 << below)]
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>()) as u64
    }
}
