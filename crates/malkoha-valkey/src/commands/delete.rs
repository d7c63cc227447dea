//! CF.DEL, CF.MDEL, CF.COMPACT.

use super::{CommandError, filter_mut};
use crate::server::{Args, Context, Key};
use crate::value::StoredFilter;

/// CF.DEL key item
pub(super) fn delete(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    let filter = existing(&mut key)?;
    let hash = filter.hash(args.get(2));
    let removed = filter.remove(hash);
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
    let filter = existing(&mut key)?;
    let hashes = filter.hashes(args.iter(2));
    let removed = filter.remove_all(&hashes);
    if removed.contains(&true) {
        context.replicate_verbatim();
        context.changed(args, 1, c"cf.del");
    }
    context.reply_array(removed.len());
    removed.into_iter().for_each(|removed| context.reply_bool(removed));
    Ok(())
}

fn existing<'k>(key: &'k mut Key<'_>) -> Result<&'k mut StoredFilter, CommandError> {
    match filter_mut(key) {
        Ok(Some(filter)) => Ok(filter),
        Ok(None) | Err(CommandError::WrongType) => Err(CommandError::DELETE_NOT_FOUND),
        Err(error) => Err(error),
    }
}

/// CF.COMPACT key
pub(super) fn compact(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    match filter_mut(&mut key) {
        Ok(Some(filter)) => filter.compact(),
        Ok(None) | Err(CommandError::WrongType) => return Err(CommandError::COMPACT_NOT_FOUND),
        Err(error) => return Err(error),
    }
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.compact");
    context.reply_ok();
    Ok(())
}
