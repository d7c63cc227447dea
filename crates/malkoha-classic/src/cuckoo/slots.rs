//! Where entries lie in a cuckoo hash table, and how they make room for one another.

use crate::error::BuildError;
use crate::words::{allocate, derive, index, scale};

/// D subtables of buckets of B slots; an entry may lie in one bucket of each subtable.
///
/// It knows entries only by their hashes, so that their places can be planned with numbers instead
/// of the entries.
#[derive(Clone, Debug)]
pub(super) struct Slots<T, const D: usize, const B: usize> {
    pub(super) cells: Vec<Option<T>>,
    /// Buckets per subtable.
    pub(super) buckets: u64,
}

impl<T, const D: usize, const B: usize> Slots<T, D, B> {
    /// `buckets` empty buckets per subtable.
    pub(super) fn new(buckets: u64) -> Result<Self, BuildError> {
        const {
            assert!(2 <= D && D <= 4, "2, 3 or 4 choices are supported");
            assert!(1 <= B && B <= 8, "1 to 8 slots a bucket are supported");
        }
        let cells = allocate(buckets.saturating_mul((D * B) as u64), || None)?;
        Ok(Self { cells, buckets })
    }

    /// The first slot of a hash's bucket in subtable number `choice`.
    #[inline(always)]
    pub(super) fn first_slot(&self, hash: u64, choice: usize) -> usize {
        let bucket = scale(derive(hash, choice as u64), self.buckets);
        (choice * index(self.buckets) + index(bucket)) * B
    }

    /// All slots where an entry with this hash may lie.
    #[inline(always)]
    pub(super) fn candidates(&self, hash: u64) -> impl Iterator<Item = usize> {
        (0..D).flat_map(move |choice| {
            let first = self.first_slot(hash, choice);
            first..first + B
        })
    }

    /// The candidate slot that holds what is looked for.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        self.candidates(hash).find(|&slot| self.cells[slot].as_ref().is_some_and(&is_it))
    }

    /// Places an entry in a free candidate slot, or kicks others out of the way, at most
    /// `max_kicks` of them (paper, section 2.2). If that fails, every kick is undone and the entry
    /// is returned.
    ///
    /// Which entry is kicked depends on hashes alone, not on a random source, so that the same
    /// operations always make the same table.
    pub(super) fn place(
        &mut self,
        thing: T,
        max_kicks: u32,
        hash_of: impl Fn(&T) -> u64,
    ) -> Result<(), T> {
        let mut hash = hash_of(&thing);
        if let Some(free) = self.free(hash) {
            self.cells[free] = Some(thing);
            return Ok(());
        }
        let mut carried = thing;
        let mut kicked = Vec::new();
        for kick in 0..max_kicks {
            let victim = self.victim(hash, kick, kicked.last().copied());
            self.swap(victim, &mut carried);
            kicked.push(victim);
            hash = hash_of(&carried);
            if let Some(free) = self.free(hash) {
                self.cells[free] = Some(carried);
                return Ok(());
            }
        }
        for &victim in kicked.iter().rev() {
            self.swap(victim, &mut carried);
        }
        Err(carried)
    }

    #[inline(always)]
    fn free(&self, hash: u64) -> Option<usize> {
        self.candidates(hash).find(|&slot| self.cells[slot].is_none())
    }

    /// The slot to kick from: any candidate but those of the bucket just kicked out of.
    #[inline]
    fn victim(&self, hash: u64, kick: u32, from: Option<usize>) -> usize {
        let left = from.map(|slot| slot / (self.cells.len() / D));
        let choices = if left.is_some() { D - 1 } else { D };
        let pick = index(scale(derive(hash, 16 + u64::from(kick)), (choices * B) as u64));
        let mut choice = pick / B;
        if left.is_some_and(|left| choice >= left) {
            choice += 1;
        }
        self.first_slot(hash, choice) + pick % B
    }

    #[inline]
    fn swap(&mut self, slot: usize, carried: &mut T) {
        let kicked = self.cells[slot].as_mut().expect("only full buckets are kicked from");
        std::mem::swap(kicked, carried);
    }
}
