//! Which segment holds a key: the root's entries, indexed by the first bits of the key's string.

/// An entry: a segment's number, and its depth in the low bits.
type Entry = u32;

const DEPTH_BITS: u32 = 5;
/// Segments at most.
pub(super) const MAX_SEGMENTS: usize = 1 << (Entry::BITS - DEPTH_BITS);

/// 2^depth entries for each root. A segment that is less deep has several in a row.
///
/// 4 bytes for some 15,000 keys. Doubling it copies that: 32 KiB at 100 million keys, a small part
/// of what a segment's split moves.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    entries: Vec<Entry>,
    depth: u32,
}

/// Where a segment hangs: below `root`, at `path`, the first `depth` bits of its keys' strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    pub(super) root: u32,
    pub(super) depth: u32,
    pub(super) path: u64,
}

impl Directory {
    /// One segment for each root, numbered as they are.
    pub(super) fn new(roots: u32) -> Self {
        Self { entries: (0..roots).map(|root| root << DEPTH_BITS).collect(), depth: 0 }
    }

    /// The number and depth of the segment of a key.
    #[inline(always)]
    pub(super) fn find(&self, root: u64, string: u64) -> (usize, u32) {
        // In two steps, because the depth may be 0. In memory, so it fits usize.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let index = ((root << self.depth) | ((string >> 1) >> (63 - self.depth))) as usize;
        let entry = self.entries[index];
        ((entry >> DEPTH_BITS) as usize, entry & ((1 << DEPTH_BITS) - 1))
    }

    /// Notes that the segment at `home` was split: child 0 keeps its number, child 1 has `number`.
    pub(super) fn split(&mut self, home: Home, old: usize, number: usize) {
        if home.depth == self.depth {
            self.entries = self.entries.iter().flat_map(|&entry| [entry; 2]).collect();
            self.depth += 1;
        }
        for (bit, number) in [(0, old), (1, number)] {
            let child = Home { depth: home.depth + 1, path: home.path << 1 | bit, ..home };
            self.point(&child, number);
        }
    }

    /// Lets the entries of `home` name segment `number`.
    fn point(&mut self, home: &Home, number: usize) {
        let number = Entry::try_from(number).expect("fewer than MAX_SEGMENTS");
        self.entries_of(home).fill(number << DEPTH_BITS | home.depth);
    }

    fn entries_of(&mut self, home: &Home) -> &mut [Entry] {
        let below = self.depth - home.depth;
        let start = (u64::from(home.root) << self.depth) + (home.path << below);
        let start = usize::try_from(start).expect("in memory");
        &mut self.entries[start..start + (1 << below)]
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>()) as u64
    }
}
