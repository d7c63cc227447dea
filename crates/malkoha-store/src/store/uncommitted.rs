//! Writes that are in the log and not durable yet. With `Durability::Always` they are not visible.
//!
//! Each write claims the hashes of its keys. So writes of a key become visible in the order of the
//! log, and it is known whether a key existed. Compaction and checkpoints need an index that covers
//! the whole log. They wait until nothing is claimed, and prevent new claims.

use std::collections::HashSet;

use parking_lot::{Condvar, Mutex};

#[derive(Default)]
pub(super) struct Uncommitted {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    hashes: HashSet<u64>,
    /// The number of callers that prevent new claims.
    quiet: usize,
}

impl Uncommitted {
    /// Waits until nobody has claimed one of the hashes. A holder of the right to write must not
    /// wait here.
    pub(super) fn claim<'a>(&'a self, hashes: &'a [u64]) -> Claim<'a> {
        let mut state = self.state.lock();
        while state.quiet > 0 || hashes.iter().any(|hash| state.hashes.contains(hash)) {
            self.changed.wait(&mut state);
        }
        state.hashes.extend(hashes);
        Claim { uncommitted: self, hashes }
    }

    /// Waits until all claimed writes are visible or abandoned. A holder of the right to write must
    /// not wait here.
    pub(super) fn quiet(&self) -> Quiet<'_> {
        let mut state = self.state.lock();
        state.quiet += 1;
        while !state.hashes.is_empty() {
            self.changed.wait(&mut state);
        }
        Quiet(self)
    }
}

/// Hashes of keys that one write has claimed.
pub(super) struct Claim<'a> {
    uncommitted: &'a Uncommitted,
    hashes: &'a [u64],
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut state = self.uncommitted.state.lock();
        for hash in self.hashes {
            state.hashes.remove(hash);
        }
        self.uncommitted.changed.notify_all();
    }
}

/// Prevents new claims.
pub(super) struct Quiet<'a>(&'a Uncommitted);

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        self.0.state.lock().quiet -= 1;
        self.0.changed.notify_all();
    }
}
