//! Writes that are in the log and not durable yet: with `Durability::Always` nobody sees them
//! before.
//!
//! Each claims the hashes of its keys, so that the order in which writes of a key are shown is that
//! of the log, and whether a key was there is known. What needs an index that has all of the log,
//! as compaction and checkpoints do, waits until nothing is claimed, and keeps it so.

use std::collections::HashSet;

use parking_lot::{Condvar, Mutex};

#[derive(Default)]
pub(super) struct Unshown {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    hashes: HashSet<u64>,
    /// Who keeps others from claiming; a number.
    quiet: usize,
}

impl Unshown {
    /// Waits until nobody has one of the hashes. Who has the right to write must not wait here.
    pub(super) fn claim<'a>(&'a self, hashes: &'a [u64]) -> Claim<'a> {
        let mut state = self.state.lock();
        while state.quiet > 0 || hashes.iter().any(|hash| state.hashes.contains(hash)) {
            self.changed.wait(&mut state);
        }
        state.hashes.extend(hashes);
        Claim { unshown: self, hashes }
    }

    /// Waits until all that was claimed is shown, or given up. Who has the right to write must not
    /// wait here.
    pub(super) fn quiet(&self) -> Quiet<'_> {
        let mut state = self.state.lock();
        state.quiet += 1;
        while !state.hashes.is_empty() {
            self.changed.wait(&mut state);
        }
        Quiet(self)
    }
}

/// Hashes of keys that one write has for itself.
pub(super) struct Claim<'a> {
    unshown: &'a Unshown,
    hashes: &'a [u64],
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.unshown.state.lock();
        for hash in self.hashes {
            state.hashes.remove(hash);
        }
        self.unshown.changed.notify_all();
    }
}

/// Keeps others from claiming.
pub(super) struct Quiet<'a>(&'a Unshown);

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        self.0.state.lock().quiet -= 1;
        self.0.changed.notify_all();
    }
}
