//! The CF.* commands. `commands.json` has their descriptions for the server.

mod add;
mod delete;
mod error;
mod expire;
mod hash;
mod many;
mod merge;
mod options;
mod query;
mod transfer;

pub(crate) use error::CommandError;

use crate::server::{Args, Context, Entry, Key, entry, max_filter_bytes};
use crate::value::{Chain, StoredFilter, Value};

/// The function of each command.
pub(crate) const ENTRIES: [(&str, Entry); 19] = [
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
    ("CF.ADVANCE", entry!(expire::advance)),
];

/// What answers for a key.
enum Holder<'k> {
    Filter(&'k StoredFilter),
    /// As RedisBloom had it.
    Chain(&'k Chain),
}

impl Holder<'_> {
    /// The time, if items expire.
    fn now(&self, context: &Context) -> u64 {
        match self {
            Self::Filter(filter) => now(context, filter),
            Self::Chain(_) => 0,
        }
    }

    fn contains(&self, item: &[u8], now: u64) -> bool {
        match self {
            Self::Filter(filter) => filter.contains(item, now),
            Self::Chain(chain) => chain.contains(item),
        }
    }

    fn contains_all(&self, items: &[&[u8]], now: u64) -> Vec<bool> {
        match self {
            Self::Filter(filter) => filter.contains_all(items, now),
            Self::Chain(chain) => items.iter().map(|item| chain.contains(item)).collect(),
        }
    }

    fn count(&self, item: &[u8], now: u64) -> u64 {
        match self {
            Self::Filter(filter) => filter.count(item, now),
            Self::Chain(chain) => chain.count(item),
        }
    }
}

/// The time of this server, if the filter's items expire. On replicas too, although the filter has
/// the time of the primary's last change.
fn now(context: &Context, filter: &StoredFilter) -> u64 {
    if filter.expires() { context.milliseconds() } else { 0 }
}

/// What a key holds, ours or RedisBloom's; an error if it is being loaded or something else.
fn holder<'k>(key: &'k Key<'_>) -> Result<Option<Holder<'k>>, CommandError> {
    match key.get()? {
        Some(Value::Filter(filter)) => Ok(Some(Holder::Filter(filter))),
        Some(Value::RedisBloom(chain)) => Ok(Some(Holder::Chain(chain))),
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        None => Ok(None),
    }
}

/// A missing key, or one of another type, contains nothing.
fn holder_if_any<'k>(key: &'k Key<'_>) -> Result<Option<Holder<'k>>, CommandError> {
    match holder(key) {
        Err(CommandError::WrongType) => Ok(None),
        other => other,
    }
}

/// Bytes that a filter may take.
fn limit(context: &Context) -> u64 {
    if context.must_obey() { u64::MAX } else { max_filter_bytes() }
}

/// Delays the command while a thread reads the filter, if the client can wait.
fn unless_lent(context: &Context, filter: &mut StoredFilter) -> Result<(), CommandError> {
    if filter.is_lent() && context.can_wait() {
        filter.wait_for_table();
        return Err(CommandError::Lent);
    }
    Ok(())
}

/// An error if what was made beside the server must not be put at its key, since another node has
/// that by now: nobody would find it here.
fn still_here(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    if context.has_moved(args) { Err(CommandError::MOVED) } else { Ok(()) }
}

/// A key's filter that is all ours; an error if it is being loaded or something else.
fn filter<'k>(key: &'k Key<'_>) -> Result<Option<&'k StoredFilter>, CommandError> {
    match key.get()? {
        Some(Value::Filter(filter)) if filter.older().is_none() => Ok(Some(filter)),
        Some(Value::Filter(_) | Value::RedisBloom(_)) => Err(CommandError::OF_REDISBLOOM),
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        None => Ok(None),
    }
}

/// A key's filter, whatever is beside it, to be changed.
fn filter_mut<'k>(key: &'k mut Key<'_>) -> Result<Option<&'k mut StoredFilter>, CommandError> {
    match key.get_mut()? {
        Some(Value::Filter(filter)) => Ok(Some(filter)),
        Some(Value::RedisBloom(_)) => Err(CommandError::OF_REDISBLOOM),
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        None => Ok(None),
    }
}
