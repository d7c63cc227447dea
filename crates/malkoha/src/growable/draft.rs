//! Where a segment is built before it has a place.

use std::cell::RefCell;
use std::mem;
use std::ops::{Deref, DerefMut};

/// What a split needs at a time.
const SPARES: usize = 2;

thread_local! {
    /// Memory of earlier drafts. What is freed goes back to the system, and to have it again takes
    /// a good part of the time of a rebuild, or most of it where a virtual machine asks its host.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// The bytes of a segment to be.
pub(super) struct Draft(Vec<u8>);

impl Draft {
    pub(super) fn zeroed(len: usize) -> Self {
        // A thread that ends has none any more.
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
        let mut bytes = spare.ok().flatten().unwrap_or_default();
        bytes.clear();
        bytes.resize(len, 0);
        Self(bytes)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let bytes = mem::take(&mut self.0);
        // A thread that ends has no more use for it.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARES {
                spare.push(bytes);
            }
        });
    }
}

impl Deref for Draft {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    #[test]
    fn a_draft_is_zero_whatever_lay_there() {
        for len in [100, 50, 200] {
            let mut drafts = [Draft::zeroed(len), Draft::zeroed(len), Draft::zeroed(len)];
            for draft in &mut drafts {
                assert_eq!(**draft, vec![0; len]);
                draft.fill(0xff);
            }
        }
        assert_eq!(SPARE.with_borrow(Vec::len), SPARES);
    }

    /// As for a filter that lies in such memory itself, and changes when it is dropped.
    #[test]
    fn a_thread_that_ends_has_drafts_all_the_same() {
        struct Last(Sender<usize>);
        impl Drop for Last {
            fn drop(&mut self) {
                self.0.send(Draft::zeroed(10).len()).unwrap();
            }
        }
        thread_local! {
            static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
        }
        let (sender, lens) = channel();
        let thread = std::thread::spawn(|| {
            // What is used first ends last.
            LAST.set(Some(Last(sender)));
            drop(Draft::zeroed(1));
        });
        thread.join().unwrap();
        assert_eq!(lens.recv(), Ok(10));
    }
}
