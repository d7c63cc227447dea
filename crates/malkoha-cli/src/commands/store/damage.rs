//! The damage of a store, and its lost keys.

use std::collections::HashSet;

use indicatif::HumanCount;
use malkoha_store::{Error, LostKey, Recovery, Store, Verification};
use serde_json::{Value, json};

use super::bytes::escaped;
use crate::failure::tell;
use crate::output::{field, with_fields};

/// A key that is gone, for a record.
pub(super) fn lost(LostKey { table, table_number, key, .. }: &LostKey) -> Value {
    let record = match (table, table_number) {
        (Some(table), _) => json!({ "table": table }),
        (None, 0) => json!({}),
        (None, number) => json!({ "table_number": number }),
    };
    with_fields(record, [field("key", key, false)])
}

/// Everything that is wrong with a store, each place once.
pub(super) fn all_damage<'s>(store: &'s Store, found: &'s Verification) -> Vec<&'s Error> {
    let known = known_damage(store);
    let others = found.damage.iter().filter(|error| !known.contains(&error.to_string()));
    store.recovery().skipped.iter().chain(others).collect()
}

/// Damage that opening skipped, in the words that reading uses for it.
pub(super) fn known_damage(store: &Store) -> HashSet<String> {
    store.recovery().skipped.iter().map(ToString::to_string).collect()
}

/// The keys of a store that are gone.
pub(super) struct Gone<'s> {
    /// `None` if a place that was skipped does not say which keys it had.
    pub(super) count: Option<u64>,
    /// Those that can be read still.
    pub(super) named: Vec<&'s LostKey>,
}

impl<'s> Gone<'s> {
    pub(super) fn new(store: &'s Store, found: &'s Verification) -> Self {
        // A store that was opened past damage does not know that these were there.
        let Recovery { skipped, lost_keys, .. } = store.recovery();
        let is_known = skipped.len() == lost_keys.len();
        Self {
            count: is_known.then_some(found.lost + lost_keys.len() as u64),
            named: lost_keys.iter().chain(&found.lost_keys).collect(),
        }
    }

    pub(super) fn tell(&self) {
        tell_lost(self.named.iter().copied());
        let Some(count) = self.count else {
            tell("how many other keys are gone cannot be known");
            return;
        };
        let others = count.saturating_sub(self.named.len() as u64);
        if others > 0 {
            tell(&format!("keys that are gone and cannot be read: {}", HumanCount(others)));
        }
    }
}

pub(super) fn tell_lost<'k>(keys: impl IntoIterator<Item = &'k LostKey>) {
    for LostKey { table, table_number, key, .. } in keys {
        let of = match (table, table_number) {
            (Some(table), _) => format!(", of table '{table}'"),
            (None, 0) => String::new(),
            (None, number) => format!(", of table number {number}, whose name is lost"),
        };
        tell(&format!("gone: {}{of}", escaped(key)));
    }
}

/// Damage, for a record.
pub(super) fn damage(error: &Error) -> Value {
    match error {
        Error::Damaged { file, offset, what } => {
            json!({ "file": file, "offset": offset, "what": what })
        }
        other => json!({ "what": other.to_string() }),
    }
}
