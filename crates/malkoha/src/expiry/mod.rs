//! Sets whose keys expire: one more use of the tables of maps, whose values are ages.
//!
//! ```text
//! now --times.rs--> epoch --label--> value of a slot --block's epoch--> age
//! ```

#[cfg(feature = "std")]
mod clock;
mod table_impl;
pub(crate) mod times;

#[cfg(feature = "std")]
pub use clock::Clock;
pub(crate) use times::{Times, Window};

use alloc::vec::Vec;

use crate::error::{InsertError, UnionError};
use crate::table::traits::{Change, Stored};

/// A table whose values are ages: keys that were seen too long ago are not in.
#[derive(Clone, Debug)]
pub struct Expiring<T: Ages> {
    pub(crate) table: T,
    pub(crate) times: Times,
}

/// A table whose values can be ages. Sealed: no other crate can implement it.
pub trait Ages: Change + Stored + Clone + PartialEq {
    /// Declares its values to be ages, before there are any; `false` if they cannot be.
    fn prepare(&mut self) -> bool;
    /// Blocks that are swept as a whole.
    fn blocks(&self) -> usize;
    /// The age of a hash, if its fingerprint lives.
    fn age(&self, times: &Times, hash: u64) -> Option<u64>;
    /// Whether each hash's fingerprint lives.
    fn lives(&self, times: &Times, hashes: &[u64], found: &mut [bool]);
    /// Sees each hash in order. Sets in `new` whether it is new; returns the positions of those
    /// that found no place. With `refresh`, a known key gets the present age.
    fn see(
        &mut self,
        times: &mut Times,
        hashes: &[u64],
        refresh: bool,
        new: &mut [bool],
    ) -> Vec<usize>;
    /// Removes a hash; whether its fingerprint lived.
    fn forget(&mut self, times: &mut Times, hash: u64) -> bool;
    /// Removes all that has expired.
    fn sweep(&mut self, times: &mut Times);
    /// Calls `each` with all labels of a table that has been swept.
    fn for_each_label(&self, each: impl FnMut(u64));
    /// Adds what is in another table, which has been swept at the same time as this one. An error,
    /// and nothing has changed, if it does not fit.
    fn absorb(&mut self, times: &mut Times, other: &Self) -> Result<(), UnionError>;
    /// The false-positive rate if this many keys live.
    fn fpr_of(&self, live: u64) -> f64;
}

impl<T: Ages> Expiring<T> {
    /// An empty table; `None` if the values of `table`, which is empty, cannot be ages.
    pub(crate) fn new(mut table: T, window: Window, capacity: u64) -> Option<Self> {
        let fits = table.prepare() && table.value_bits() == window.label_bits();
        let times = Times::new(window, table.blocks(), capacity);
        fits.then_some(Self { table, times })
    }

    /// The table of these values at a time, at which it had been swept; `None` if some of them are
    /// no ages.
    pub(crate) fn of(table: T, window: Window, now: u64, capacity: u64) -> Option<Self> {
        let mut set = Self::new(table, window, capacity)?;
        set.times.advance(now);
        set.recount().then_some(set)
    }

    /// Counts the labels of a table that has been swept; whether all of them are ages.
    fn recount(&mut self) -> bool {
        let Self { table, times } = self;
        times.clear(table.blocks());
        let mut possible = true;
        table.for_each_label(|label| {
            possible &= times.can_be(label);
            times.count_in(label);
        });
        possible
    }

    /// The table without what has expired. Keys are counted as a reader of its file does: doubles
    /// that a merger brought together once.
    pub(crate) fn swept(&self) -> Self {
        let mut swept = self.clone();
        swept.sweep();
        swept.recount();
        swept
    }

    pub(crate) fn advance(&mut self, now: u64) {
        self.times.advance(now);
    }

    pub(crate) fn now(&self) -> u64 {
        self.times.now()
    }

    pub(crate) fn window(&self) -> Window {
        self.times.window()
    }

    /// Takes over the state of another set's times, whose table was the same.
    pub(crate) fn with_state(self, now: u64, swept: Vec<u64>, counts: Vec<u64>) -> Option<Self> {
        let Self { table, mut times } = self;
        times.advance(now);
        // At most all slots and spilled copies live.
        let filled = table.slots().saturating_add(table.spilled());
        let times = times.with_state(swept, counts, filled)?;
        Some(Self { table, times })
    }

    /// Whether a hash will be in at a later time, if nothing changes until then.
    #[inline]
    pub(crate) fn contains_at(&self, hash: u64, now: u64) -> bool {
        let later = self.times.epochs_to(now);
        let age = self.table.age(&self.times, hash);
        age.is_some_and(|age| self.times.lives_after(age, later))
    }

    /// The same of each hash.
    pub(crate) fn contains_batch_at(&self, hashes: &[u64], now: u64, found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.table.lives(&self.times, hashes, found);
        if self.times.epochs_to(now) > 0 {
            for (found, &hash) in found.iter_mut().zip(hashes) {
                *found = *found && self.contains_at(hash, now);
            }
        }
    }

    /// Removes all that has expired.
    pub(crate) fn sweep(&mut self) {
        self.table.sweep(&mut self.times);
    }

    pub(crate) fn age(&self, hash: u64) -> Option<u64> {
        let age = self.table.age(&self.times, hash);
        age.map(|age| self.times.most_time(age))
    }

    /// Sees a hash: whether it is new. With `refresh`, a known hash gets the present age.
    #[inline]
    pub(crate) fn see(&mut self, hash: u64, refresh: bool) -> Result<bool, InsertError> {
        let mut new = [false];
        let refused = self.see_batch(&[hash], refresh, &mut new);
        if refused.is_empty() { Ok(new[0]) } else { Err(self.times.refusal()) }
    }

    #[inline]
    pub(crate) fn see_batch(
        &mut self,
        hashes: &[u64],
        refresh: bool,
        new: &mut [bool],
    ) -> Vec<usize> {
        self.table.see(&mut self.times, hashes, refresh, new)
    }

    pub(crate) fn unite(&mut self, other: &Self) -> Result<(), UnionError> {
        if self.times.window() != other.times.window() {
            return Err(UnionError::Different("the time that keys live, or its resolution"));
        }
        let (mut ours, mut theirs) = (self.clone(), other.clone());
        let now = ours.times.now().max(theirs.times.now());
        for side in [&mut ours, &mut theirs] {
            side.advance(now);
            side.sweep();
        }
        ours.table.absorb(&mut ours.times, &theirs.table)?;
        *self = ours;
        Ok(())
    }
}
