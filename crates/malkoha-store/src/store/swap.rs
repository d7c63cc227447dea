//! Writes that are done only if a key has the expected value.

use std::borrow::Cow;

use super::Store;
use super::read::is_alive;
use crate::error::Result;
use crate::locate::Located;

/// The result of a [`compare_and_swap`](Store::compare_and_swap).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The key had the expected value, and has the new one.
    Done,
    /// The key had this value, or none, and still does.
    Found(Option<Vec<u8>>),
}

/// The value that the key of a write must have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected<'a> {
    Anything,
    Exactly(Option<&'a [u8]>),
}

impl Expected<'_> {
    /// The value of a key, if it is not the expected one.
    pub(super) fn refuses(self, found: Option<&Located<'_>>) -> Result<Option<Option<Vec<u8>>>> {
        let Self::Exactly(expected) = self else { return Ok(None) };
        let found = found.filter(|found| is_alive(&found.record));
        let value = found.map(Located::value).transpose()?;
        let refused = (value.as_deref() != expected).then(|| value.map(Cow::into_owned));
        if let Some(found) = found {
            found.file.check_read(found.location)?;
        }
        Ok(refused)
    }
}

impl Store {
    /// Sets the value of a key that has none; returns whether it had none. No other write of the
    /// key comes between reading and writing.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// assert!(store.put_if_absent(b"nest", b"reed warbler")?);
    /// assert!(!store.put_if_absent(b"nest", b"cuckoo")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// The errors are those of [`put`](Self::put).
    pub fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        Ok(self.compare_and_swap(key, None, Some(value))? == Swap::Done)
    }

    /// Sets the value of a key to `new` if it is `old`, byte by byte. As `old`, `None` means that
    /// the key must be absent, and as `new`, that it is removed. This is as durable as
    /// [`put`](Self::put), and no other write of the key comes between reading and writing.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store, Swap};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// store.put(b"eggs", b"4")?;
    /// assert_eq!(store.compare_and_swap(b"eggs", Some(b"4"), Some(b"5"))?, Swap::Done);
    /// let found = Swap::Found(Some(b"5".to_vec()));
    /// assert_eq!(store.compare_and_swap(b"eggs", Some(b"4"), None)?, found);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// The errors are those of [`put`](Self::put).
    pub fn compare_and_swap(
        &self,
        key: &[u8],
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<Swap> {
        self.main().compare_and_swap(key, old, new)
    }
}
