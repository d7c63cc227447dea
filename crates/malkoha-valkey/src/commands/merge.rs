//! CF.MERGE.

use std::sync::Arc;

use crate::error::CommandError;
use crate::server::{Args, Context, Given};
use crate::value::{StoredFilter, Table, Value};

/// Bytes of filters that are merged at once.
const LITTLE: u64 = 16 << 10;

/// CF.MERGE destination source [source ...]
pub(super) fn merge(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let name = args.get(1);
    if args.iter(2).any(|source| source == name) {
        return Err(CommandError::MERGE_INTO_ITSELF);
    }
    // One of them might be what another merge or a sweep replaces. Before any is lent for this one,
    // since a source can be named twice.
    for index in 1..args.len() {
        if let Some(filter) = context.open(args, index).ours()? {
            context.unless_lent(filter)?;
        }
    }
    let mut bytes = 0;
    // The destination first, or what it becomes like.
    let mut first = None;
    let mut tables = Vec::with_capacity(args.len());
    for index in 1..args.len() {
        let mut key = context.open(args, index);
        let Some(filter) = key.ours()? else {
            if index > 1 {
                return Err(CommandError::NOT_FOUND);
            }
            continue;
        };
        bytes += filter.bytes();
        first.get_or_insert((*filter.properties(), filter.deleted()));
        tables.push(filter.lend());
    }
    let (properties, deleted) = first.ok_or(CommandError::NOT_FOUND)?;
    if !context.has_memory_for(bytes) {
        return Err(CommandError::NO_MEMORY);
    }
    let (limit, lent) = (context.limit(), tables.clone());
    let work = move |_: Given<'_>| {
        let union = StoredFilter::union(properties, deleted, &tables, limit);
        // Here, or the last of them would be freed while the server waits.
        drop(tables);
        union
    };
    context.in_background(args, bytes < LITTLE, 1, work, move |context, args, union| {
        let union = union?;
        if union.is_overfull() {
            return Err(CommandError::FULL);
        }
        context.still_here(args)?;
        if !are_unchanged(context, args, &lent)? {
            return Err(CommandError::CHANGED);
        }
        drop(lent);
        context.open_mut(args, 1).set(Value::Filter(union));
        context.replicate_verbatim();
        context.changed(args, 1, c"cf.merge");
        context.reply_ok();
        Ok(())
    })
}

/// Whether destination and sources are still the filters that were lent.
fn are_unchanged(
    context: &Context,
    args: &Args<'_>,
    lent: &[Arc<Table>],
) -> Result<bool, CommandError> {
    let mut lent = lent.iter();
    // If there was no destination, there must still be none.
    let had_destination = lent.len() == args.len() - 1;
    for index in 1..args.len() {
        let mut key = context.open(args, index);
        let is_same = match (key.ours()?, index > 1 || had_destination) {
            (Some(filter), true) => lent.next().is_some_and(|table| filter.still_has(table)),
            (filter, expected) => filter.is_none() && !expected,
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}
