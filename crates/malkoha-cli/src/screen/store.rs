//! Lines that are keys of a store.

use std::path::Path;

use anyhow::{Context, Result};
use malkoha_store::{Error, Store};

use super::Matcher;

/// The keys of a store, as it was when this was made. Only its checkpoint is read beforehand.
pub(crate) struct StoreKeys {
    store: Store,
    name: String,
}

impl StoreKeys {
    /// The store at `path`, if there is one.
    pub(crate) fn at(path: &Path) -> Result<Option<Self>> {
        if !path.is_dir() {
            return Ok(None);
        }
        let name = format!("store '{}'", path.display());
        match Store::open_read_only(path) {
            Err(Error::NoStore(_)) => Ok(None),
            store => Ok(Some(Self { store: store.with_context(|| name.clone())?, name })),
        }
    }
}

impl Matcher for StoreKeys {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let looked_up = self.store.get_many(lines, |i, value| found[i] |= value.is_some());
        looked_up.with_context(|| self.name.clone())
    }
}
