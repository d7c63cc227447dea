//! What a key holds, and whether a command can use it now.

use crate::error::CommandError;
use crate::server::{Args, Context, Key, max_filter_bytes};
use crate::value::{StoredFilter, Value};

/// A key's value; an error if it is being loaded or of another type.
pub(super) fn whole<'k>(key: &'k Key<'_>) -> Result<Option<&'k Value>, CommandError> {
    match key.get()? {
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        value => Ok(value),
    }
}

/// As [`whole`], but a key of another type contains nothing, like a missing one.
pub(super) fn whole_if_any<'k>(key: &'k Key<'_>) -> Result<Option<&'k Value>, CommandError> {
    match whole(key) {
        Err(CommandError::WrongType) => Ok(None),
        other => other,
    }
}

/// A key's value to be changed; this error if there is none, or something else.
pub(super) fn existing<'k>(
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
pub(super) fn now(context: &Context, value: &Value) -> u64 {
    if value.expires() { context.milliseconds() } else { 0 }
}

/// Prepares a change of a filter. It waits until no thread reads the filter, where it can, because
/// changing it would copy it. If items expire, the filter and the replicas get the time: right
/// before the command, since its changes are replicated after that.
pub(super) fn before_change(
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
        context.replicate(c"CF.ADVANCE", &[args.get(1), step.to_string().as_bytes()]);
    }
    Ok(())
}

/// Bytes that a filter may take.
pub(super) fn limit(context: &Context) -> u64 {
    if context.must_obey() { u64::MAX } else { max_filter_bytes() }
}

/// Delays the command while a thread reads the filter, if the client can wait.
pub(super) fn unless_lent(
    context: &Context,
    filter: &mut StoredFilter,
) -> Result<(), CommandError> {
    if filter.is_lent() && context.can_wait() {
        filter.wait_for_table();
        return Err(CommandError::Lent);
    }
    Ok(())
}

/// An error if another node has the key by now. A result that a thread made must not be put there,
/// because nobody would find it.
pub(super) fn still_here(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    if context.has_moved(args) { Err(CommandError::MOVED) } else { Ok(()) }
}

/// A key's filter, to be changed. It can have a part from RedisBloom.
pub(super) fn filter_mut<'k>(
    key: &'k mut Key<'_>,
) -> Result<Option<&'k mut StoredFilter>, CommandError> {
    match key.get_mut()? {
        Some(Value::Filter(filter)) => Ok(Some(filter)),
        Some(Value::RedisBloom(_)) => Err(CommandError::OF_REDISBLOOM),
        Some(Value::Loading(_)) => Err(CommandError::LOADING),
        None => Ok(None),
    }
}

/// As [`filter_mut`]; an error if a part is RedisBloom's.
pub(super) fn ours<'k>(key: &'k mut Key<'_>) -> Result<Option<&'k mut StoredFilter>, CommandError> {
    match filter_mut(key)? {
        Some(filter) if filter.older().is_some() => Err(CommandError::OF_REDISBLOOM),
        filter => Ok(filter),
    }
}
