//! The CF.* commands. `commands.json` has their descriptions for the server.

mod add;
mod delete;
mod expire;
mod hash;
mod many;
mod merge;
mod options;
mod query;
mod transfer;

use crate::error::CommandError;
use crate::server::{Args, Context, Entry, Key, entry, max_filter_bytes};
use crate::value::{StoredFilter, Value};

/// The function of each command.
pub(crate) const ENTRIES: [(&str, Entry); 20] = [
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
    ("CF.DEBUG", entry!(query::debug)),
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

/// A key's value; an error if it is being loaded or of another type.
fn whole<'k>(key: &'k Key<'_>) -> Result<Option<&'k Value>, CommandError> {
    match key.get()? {
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        value => Ok(value),
    }
}

/// As [`whole`], but a key of another type contains nothing, like a missing one.
fn whole_if_any<'k>(key: &'k Key<'_>) -> Result<Option<&'k Value>, CommandError> {
    match whole(key) {
        Err(CommandError::WrongType) => Ok(None),
        other => other,
    }
}

/// A key's value to be changed; this error if there is none, or something else.
fn existing<'k>(
    key: &'k mut Key<'_>,
    otherwise: CommandError,
) -> Result<&'k mut Value, CommandError> {
    match key.get_mut().ok().flatten().ok_or(otherwise)? {
        Value::Loading(_) => Err(CommandError::LOADING),
        value => Ok(value),
    }
}

/// The time of this server, if the value's items expire. Replicas use their own clock too, although
/// the filter has the time of the primary's last change.
fn now(context: &Context, value: &Value) -> u64 {
    if value.expires() { context.milliseconds() } else { 0 }
}

/// Prepares a change of a filter. It waits until no thread reads the filter, where it can, because
/// changing it would copy it. If items expire, the filter and the replicas get the time: right
/// before the command, since its changes are replicated after that.
fn before_change(
    context: &Context,
    args: &Args<'_>,
    filter: &mut StoredFilter,
) -> Result<(), CommandError> {
    unless_lent(context, filter)?;
    if !filter.expires() {
        return Ok(());
    }
    if let Some(step) = filter.step_begun(context.milliseconds())
        && !context.must_obey()
    {
        filter.advance(step);
        context.replicate("CF.ADVANCE", &[args.get(1), step.to_string().as_bytes()]);
    }
    Ok(())
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

/// An error if another node has the key by now. A result that a thread made must not be put there,
/// because nobody would find it.
fn still_here(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    if context.has_moved(args) { Err(CommandError::MOVED) } else { Ok(()) }
}

/// A key's filter, to be changed. It can have a part from RedisBloom.
fn filter_mut<'k>(key: &'k mut Key<'_>) -> Result<Option<&'k mut StoredFilter>, CommandError> {
    match key.get_mut()? {
        Some(Value::Filter(filter)) => Ok(Some(filter)),
        Some(Value::RedisBloom(_)) => Err(CommandError::OF_REDISBLOOM),
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        None => Ok(None),
    }
}

/// As [`filter_mut`]; an error if a part is RedisBloom's.
fn ours<'k>(key: &'k mut Key<'_>) -> Result<Option<&'k mut StoredFilter>, CommandError> {
    match filter_mut(key)? {
        Some(filter) if filter.older().is_some() => Err(CommandError::OF_REDISBLOOM),
        filter => Ok(filter),
    }
}
