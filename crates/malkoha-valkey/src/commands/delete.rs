//! CF.DEL, CF.MDEL, CF.COMPACT.

use std::sync::Arc;

use super::many::{Many, Verb};
use crate::error::CommandError;
use crate::server::{Args, Context, Given};
use crate::value::{Chain, StoredFilter, Value};

/// CF.DEL key item
pub(super) fn delete(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    let value = key.existing(CommandError::DELETE_NOT_FOUND)?;
    if let Value::Filter(filter) = value {
        context.before_change(args, filter)?;
    }
    let removed = value.remove(args.get(2));
    if removed {
        context.replicate_verbatim();
        context.changed(args, 1, c"cf.del");
    }
    context.reply_bool(removed);
    Ok(())
}

/// CF.MDEL key item...
pub(super) fn delete_many(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    context.perform(args, Many::new(Verb::Delete, 2))
}

/// Bytes of a filter that is swept at once.
const LITTLE: u64 = 64 << 10;

/// CF.COMPACT key
pub(super) fn compact(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    match key.existing(CommandError::COMPACT_NOT_FOUND)? {
        Value::RedisBloom(chain) => chain.compact(),
        Value::Filter(filter) => {
            context.before_change(args, filter)?;
            if filter.is_sweepable() {
                return sweep(context, args, filter);
            }
        }
        Value::Loading(_) => return Err(CommandError::LOADING),
    }
    compacted(context, args);
    Ok(())
}

/// Removes what has expired, and gives back the room of deleted items.
fn sweep(
    context: &Context,
    args: &Args<'_>,
    filter: &mut StoredFilter,
) -> Result<(), CommandError> {
    let (properties, deleted) = (*filter.properties(), filter.deleted());
    let (is_little, lent) = (filter.bytes() < LITTLE, filter.lend());
    let table = Arc::clone(&lent);
    let work = move |_: Given<'_>| StoredFilter::swept(properties, deleted, &table);
    context.in_background(args, is_little, 1, work, move |context, args, swept| {
        let mut key = context.open_mut(args, 1);
        let mut older = match key.filter_mut()? {
            Some(filter) if filter.still_has(&lent) => filter.take_older(),
            _ => return Err(CommandError::CHANGED),
        };
        older.iter_mut().for_each(Chain::compact);
        key.set(Value::Filter(swept.with_older(older)));
        compacted(context, args);
        Ok(())
    })
}

fn compacted(context: &Context, args: &Args<'_>) {
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.compact");
    context.reply_ok();
}
