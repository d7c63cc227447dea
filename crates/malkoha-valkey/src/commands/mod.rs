//! The CF.* commands. `commands.json` says what the server is told of them.

mod add;
mod delete;
mod error;
mod hash;
mod merge;
mod options;
mod query;
mod transfer;

pub(crate) use error::CommandError;

use crate::server::{Entry, Key, entry};
use crate::value::{StoredFilter, Value};

/// What each command runs.
pub(crate) const ENTRIES: [(&str, Entry); 18] = [
    ("CF.RESERVE", entry!(add::reserve)),
    ("CF.ADD", entry!(add::add)),
    ("CF.ADDNX", entry!(add::add_nx)),
    ("CF.INSERT", entry!(add::insert)),
    ("CF.INSERTNX", entry!(add::insert_nx)),
    ("CF.MADD", entry!(add::add_many)),
    ("CF.EXISTS", entry!(query::exists)),
    ("CF.MEXISTS", entry!(query::exists_many)),
    ("CF.COUNT", entry!(query::count)),
    ("CF.INFO", entry!(query::info)),
    ("CF.DEL", entry!(delete::delete)),
    ("CF.MDEL", entry!(delete::delete_many)),
    ("CF.COMPACT", entry!(delete::compact)),
    ("CF.MERGE", entry!(merge::merge)),
    ("CF.SCANDUMP", entry!(transfer::scan_dump)),
    ("CF.LOADCHUNK", entry!(transfer::load_chunk)),
    ("CF.DUMP", entry!(transfer::dump)),
    ("CF.LOAD", entry!(transfer::load)),
];

/// A key's filter; an error if it is being loaded or something else.
fn filter<'k>(key: &'k Key<'_>) -> Result<Option<&'k StoredFilter>, CommandError> {
    match key.get()? {
        Some(Value::Filter(filter)) => Ok(Some(filter)),
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        None => Ok(None),
    }
}

fn filter_mut<'k>(key: &'k mut Key<'_>) -> Result<Option<&'k mut StoredFilter>, CommandError> {
    match key.get_mut()? {
        Some(Value::Filter(filter)) => Ok(Some(filter)),
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        None => Ok(None),
    }
}
