//! CF.DEL, CF.MDEL, CF.COMPACT.

use super::{CommandError, expire};
use crate::server::{Args, Context, Key};
use crate::value::Value;

/// CF.DEL key item
pub(super) fn delete(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    let removed = match existing(&mut key, CommandError::DELETE_NOT_FOUND)? {
        Value::RedisBloom(chain) => chain.remove(args.get(2)),
        Value::Filter(filter) => {
            expire::keep_time(context, args, filter);
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
    let items: Vec<&[u8]> = args.iter(2).collect();
    let removed: Vec<bool> = match existing(&mut key, CommandError::DELETE_NOT_FOUND)? {
        Value::RedisBloom(chain) => items.into_iter().map(|item| chain.remove(item)).collect(),
        Value::Filter(filter) => {
            expire::keep_time(context, args, filter);
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
fn existing<'k>(
    key: &'k mut Key<'_>,
    otherwise: CommandError,
) -> Result<&'k mut Value, CommandError> {
    key.get_mut().ok().flatten().ok_or(otherwise)
}

/// CF.COMPACT key
pub(super) fn compact(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    match existing(&mut key, CommandError::COMPACT_NOT_FOUND)? {
        Value::RedisBloom(chain) => chain.compact(),
        Value::Filter(filter) => {
            expire::keep_time(context, args, filter);
            filter.compact();
        }
        Value::Loading(_) => return Err(CommandError::LOADING),
    }
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.compact");
    context.reply_ok();
    Ok(())
}
