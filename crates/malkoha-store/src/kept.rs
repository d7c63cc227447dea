//! A value that is replaced as a whole, now and then. A reader keeps the value that it found.

use std::ops::Deref;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::{ArcSwap, Guard};
use malkoha::locks::biased::{Holding, Open, settle};
use parking_lot::Mutex;

/// The current value.
pub(crate) struct Kept<T> {
    current: ArcSwap<T>,
    /// The address of the same, for readers inside a gate.
    address: AtomicUsize,
    /// Former values that may still be read.
    former: Mutex<Vec<Arc<T>>>,
}

/// A value that is noted in the place of the thread that reads it.
pub(crate) struct Noted<'a, T> {
    value: &'a T,
    _holding: Holding<'static>,
}

impl<T> Deref for Noted<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Kept<T> {
    pub(crate) fn new(value: T) -> Self {
        let value = Arc::new(value);
        let address = AtomicUsize::new(Arc::as_ptr(&value).expose_provenance());
        Self { current: ArcSwap::from(value), address, former: Mutex::default() }
    }

    pub(crate) fn load(&self) -> Guard<Arc<T>> {
        self.current.load()
    }

    pub(crate) fn load_full(&self) -> Arc<T> {
        self.current.load_full()
    }

    /// The current value, for a thread that is in a gate. It stays valid after the thread has left
    /// the gate. `None` if the thread reads another value.
    #[inline(always)]
    pub(crate) fn note<U>(&self, open: &Open<'_, U>) -> Option<Noted<'_, T>> {
        let (address, holding) = open.hold(&self.address)?;
        // SAFETY: it was the current value inside a gate, and is noted. `replace` drops it only
        // when nobody is in a gate that was entered while it was current, and no place has it.
        let value = unsafe { &*ptr::with_exposed_provenance(address) };
        Some(Noted { value, _holding: holding })
    }

    /// Replaces the value, by one caller at a time, and returns the one before. It is dropped when
    /// nobody reads it, or at a later call.
    pub(crate) fn replace(&self, value: Arc<T>) -> Arc<T> {
        let mut former = self.former.lock();
        self.address.store(Arc::as_ptr(&value).expose_provenance(), Ordering::Release);
        let before = self.current.swap(value);
        // If no gate is ever open, nobody is inside.
        if let Some(is_held) = settle() {
            former.push(Arc::clone(&before));
            former.retain(|it| is_held(Arc::as_ptr(it).addr()));
        }
        before
    }
}
