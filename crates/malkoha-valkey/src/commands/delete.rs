//! CF.DEL, CF.MDEL, CF.COMPACT.

use std::sync::Arc;

use super::many::{AT_ONCE, Many, Verb};
use super::{CommandError, expire, filter_mut};
use crate::server::{Args, Context, Given, Key};
use crate::value::{StoredFilter, Value};

/// CF.DEL key item
pub(super) fn delete(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    let removed = match existing(&mut key, CommandError::DELETE_NOT_FOUND)? {
        Value::RedisBloom(chain) => chain.remove(args.get(2)),
        Value::Filter(filter) => {
            expire::before_change(context, args, filter)?;
            filter.remove(args.get(2))
        }
        Value::Loading(_) => return Err(CommandError::LOADING),
    };
    if removed {
        context.replicate_verbatim();
        context.changed(args, 1, c"cf.del");
    }
    context.reply_bool(removed);
    Ok(())
}

/// CF.MDEL key item...
pub(super) fn delete_many(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    if args.len() - 2 > AT_ONCE {
        existing(&mut key, CommandError::DELETE_NOT_FOUND)?;
        drop(key);
        return context.perform(args, Many::new(Verb::Delete, 2));
    }
    let items: Vec<&[u8]> = args.iter(2).collect();
    let removed: Vec<bool> = match existing(&mut key, CommandError::DELETE_NOT_FOUND)? {
        Value::RedisBloom(chain) => items.into_iter().map(|item| chain.remove(item)).collect(),
        Value::Filter(filter) => {
            expire::before_change(context, args, filter)?;
            filter.remove_all(&items)
        }
        Value::Loading(_) => return Err(CommandError::LOADING),
    };
    if removed.contains(&true) {
        context.replicate_verbatim();
        context.changed(args, 1, c"cf.del");
    }
    context.reply_array(removed.len());
    removed.into_iter().for_each(|removed| context.reply_bool(removed));
    Ok(())
}

/// What a key holds; this error if that is nothing, or something else.
pub(super) fn existing<'k>(
    key: &'k mut Key<'_>,
    otherwise: CommandError,
) -> Result<&'k mut Value, CommandError> {
    key.get_mut().ok().flatten().ok_or(otherwise)
}

/// Bytes of a filter that is swept at once.
const LITTLE: u64 = 64 << 10;

/// CF.COMPACT key
pub(super) fn compact(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    match existing(&mut key, CommandError::COMPACT_NOT_FOUND)? {
        Value::RedisBloom(chain) => chain.compact(),
        Value::Filter(filter) => {
            expire::before_change(context, args, filter)?;
            if filter.expires() {
                return sweep(context, args, filter);
            }
            filter.compact();
        }
        Value::Loading(_) => return Err(CommandError::LOADING),
    }
    compacted(context, args);
    Ok(())
}

/// Removes what has expired.
fn sweep(
    context: &Context,
    args: &Args<'_>,
    filter: &mut StoredFilter,
) -> Result<(), CommandError> {
    let (properties, deleted) = (*filter.properties(), filter.deleted());
    let (is_little, lent) = (filter.bytes() < LITTLE, filter.lend());
    let table = Arc::clone(&lent);
    let work = move |_: Given<'_>| StoredFilter::swept(properties, deleted, &table);
    context.beside(args, is_little, 1, work, move |context, args, swept| {
        let mut key = context.open_mut(args, 1);
        match filter_mut(&mut key)? {
            Some(filter) if filter.still_has(&lent) => {}
            _ => return Err(CommandError::CHANGED),
        }
        key.set(Value::Filter(swept));
        compacted(context, args);
        Ok(())
    })
}

fn compacted(context: &Context, args: &Args<'_>) {
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.compact");
    context.reply_ok();
}
