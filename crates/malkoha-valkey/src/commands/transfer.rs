//! Filters as bytes: CF.SCANDUMP, CF.LOADCHUNK, CF.DUMP, CF.LOAD.

use super::options::number;
use super::{CommandError, filter};
use crate::server::{Args, Context, max_filter_bytes};
use crate::value::{Loading, StoredFilter, Value, chunk};

/// CF.SCANDUMP key iterator
pub(super) fn scan_dump(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let stored = filter(&key)?.ok_or(CommandError::NOT_FOUND)?;
    let done = number(args.get(2)).and_then(|done| usize::try_from(done).ok());
    let done = done.ok_or(CommandError::INVALID_POSITION)?;
    let next = done.saturating_add(1);
    context.reply_array(2);
    if let Some(bytes) = chunk(stored, next) {
        context.reply_count(next as u64);
        context.reply_bytes(&bytes);
    } else {
        context.reply_integer(0);
        context.reply_null();
    }
    Ok(())
}

/// CF.LOADCHUNK key iterator bytes
pub(super) fn load_chunk(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let number = number(args.get(2)).filter(|&number| number > 0);
    let number = number.ok_or(CommandError::INVALID_POSITION)?;
    let bytes = args.get(3);
    let mut key = context.open_mut(args, 1);
    let taken = match key.get()? {
        Some(Value::Loading(loading)) => loading.bytes(),
        _ => 0,
    };
    let is_too_large = taken.saturating_add(bytes.len() as u64) > max_filter_bytes();
    if is_too_large && !context.must_obey() {
        return Err(CommandError::TOO_LARGE);
    }
    if number == 1 {
        if key.get()?.is_some() {
            return Err(CommandError::EXISTS);
        }
        let loading = Loading::begin(bytes.to_vec()).map_err(|_| CommandError::INVALID_HEADER)?;
        key.set(Value::Loading(Box::new(loading)));
    } else {
        let Some(Value::Loading(loading)) = key.get_mut()? else {
            return Err(if key.get()?.is_some() {
                CommandError::EXISTS
            } else {
                CommandError::NOT_FOUND
            });
        };
        if loading.next() != number {
            return Err(CommandError::BAD_CHUNK);
        }
        if let Some(filter) = loading.push(bytes.to_vec()).map_err(|_| CommandError::BAD_CHUNK)? {
            key.set(Value::Filter(filter));
        }
    }
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.loadchunk");
    context.reply_ok();
    Ok(())
}

/// CF.DUMP key
pub(super) fn dump(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    match filter(&key)? {
        Some(stored) => context.reply_bytes(&stored.filter().to_bytes()),
        None => context.reply_null(),
    }
    Ok(())
}

/// CF.LOAD key bytes
pub(super) fn load(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    if key.get()?.is_some() {
        return Err(CommandError::EXISTS);
    }
    let bytes = args.get(2);
    if !context.must_obey() && bytes.len() as u64 > max_filter_bytes() {
        return Err(CommandError::TOO_LARGE);
    }
    if !context.has_memory_for(bytes.len() as u64) {
        return Err(CommandError::NO_MEMORY);
    }
    let filter =
        StoredFilter::open(bytes).map_err(|error| CommandError::message(format!("ERR {error}")))?;
    key.set(Value::Filter(filter));
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.load");
    context.reply_ok();
    Ok(())
}
