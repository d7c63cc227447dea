//! The directories that this process has the right to write to.

use std::process;

use parking_lot::Mutex;

/// The identity of a directory, whatever path leads to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Identity(
    #[cfg(unix)] pub(super) [u64; 2],
    #[cfg(windows)] pub(super) std::path::PathBuf,
);

/// All of them, with their processes, because a forked process has a copy of this list.
static ALL: Mutex<Vec<(Identity, u32)>> = Mutex::new(Vec::new());

/// A directory in the list, until it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    directory: Identity,
    process: u32,
}

impl Held {
    pub(super) fn new(directory: Identity) -> Self {
        let process = process::id();
        ALL.lock().push((directory.clone(), process));
        Self { directory, process }
    }

    /// Whether this process was forked by the one that has the right.
    pub(super) fn is_inherited(&self) -> bool {
        self.process != process::id()
    }

    /// Whether this process has the right to write to a directory.
    pub(super) fn is_here(directory: &Identity) -> bool {
        let process = process::id();
        ALL.lock().iter().any(|held| held.0 == *directory && held.1 == process)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut all = ALL.lock();
        let is_this = |held: &(Identity, u32)| held.0 == self.directory && held.1 == self.process;
        if let Some(at) = all.iter().position(is_this) {
            all.swap_remove(at);
        }
    }
}
