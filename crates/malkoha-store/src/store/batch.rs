//! Several writes that happen together or not at all.

use std::time::Duration;

use super::now;
use super::tables::Tables;
use super::write::check;
use crate::error::{Error, Result};
use crate::log::{Content, Key, Kind};

/// Writes to be applied together: after a crash all of them are there, or none.
///
/// ```
/// # use malkoha_store::{Batch, Options, Store};
/// # let directory = tempfile::tempdir()?;
/// # let store = Store::open(directory.path(), &Options::new())?;
/// let mut batch = Batch::new();
/// batch.put(b"from", b"90")?.put(b"to", b"110")?.delete(b"pending")?;
/// store.apply(&batch)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    operations: Vec<Operation>,
    /// Names of tables, as passed to [`within`](Self::within).
    tables: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    kind: Kind,
    /// Names of tables before it: the last of them is its own.
    tables: usize,
    begin: usize,
    key: usize,
    value: usize,
    expires: Option<u64>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Later writes of the batch are to keys of this table, which must exist when the batch is
    /// applied. With an empty name, and before the first call, they are to keys of the store
    /// itself.
    pub fn within(&mut self, table: &str) -> &mut Self {
        self.tables.push(table.to_owned());
        self
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    ///
    /// If the key or the value is too long.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<&mut Self> {
        self.push(Kind::Put, key, value, None)
    }

    /// Sets the value of a key for a limited time.
    ///
    /// # Errors
    ///
    /// If the key or the value is too long.
    pub fn put_for(&mut self, key: &[u8], value: &[u8], time: Duration) -> Result<&mut Self> {
        self.push(Kind::Put, key, value, Some(expiry(time)))
    }

    /// Removes a key, if it is there.
    ///
    /// # Errors
    ///
    /// If the key is too long.
    pub fn delete(&mut self, key: &[u8]) -> Result<&mut Self> {
        self.push(Kind::Delete, key, &[], None)
    }

    fn push(
        &mut self,
        kind: Kind,
        key: &[u8],
        value: &[u8],
        expires: Option<u64>,
    ) -> Result<&mut Self> {
        check(key, value)?;
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.operations.push(Operation {
            kind,
            tables: self.tables.len(),
            begin,
            key: key.len(),
            value: value.len(),
            expires,
        });
        Ok(self)
    }

    /// Writes in the batch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Bytes of its keys and values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Empties it, and keeps its memory. Later writes are to keys of the store itself.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.operations.clear();
        self.tables.clear();
    }

    pub(super) fn contents(&self, tables: &Tables) -> Result<Vec<Content<'_>>> {
        let number = |name: &String| match &**name {
            "" => Ok(0),
            name => tables.number(name).ok_or_else(|| Error::NoTable(name.to_owned())),
        };
        let numbers: Vec<u32> = self.tables.iter().map(number).collect::<Result<_>>()?;
        let content = |operation: &Operation| {
            let (name, rest) = self.bytes[operation.begin..].split_at(operation.key);
            let table = operation.tables.checked_sub(1).map_or(0, |last| numbers[last]);
            let key = Key { table, name };
            match operation.kind {
                Kind::Delete => Content::delete(key, None),
                _ => Content::put(key, &rest[..operation.value], operation.expires),
            }
        };
        Ok(self.operations.iter().map(content).collect())
    }
}

/// The end of a period that begins now.
pub(super) fn expiry(time: Duration) -> u64 {
    now().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
