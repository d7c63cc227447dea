//! CF.MERGE.

use super::{CommandError, filter};
use crate::server::{Args, Context, Key, max_filter_bytes};
use crate::value::{StoredFilter, Value};

/// CF.MERGE destination source [source ...]
pub(super) fn merge(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let name = args.get(1);
    if args.iter(2).any(|source| source == name) {
        return Err(CommandError::MERGE_INTO_ITSELF);
    }
    let keys: Vec<Key<'_>> = (2..args.len()).map(|index| context.open(args, index)).collect();
    let sources = keys.iter().map(|key| filter(key)?.ok_or(CommandError::NOT_FOUND));
    let sources: Vec<&StoredFilter> = sources.collect::<Result<_, _>>()?;
    let mut key = context.open_mut(args, 1);
    let (first, others) = match filter(&key)? {
        Some(destination) => (destination, &sources[..]),
        None => (sources[0], &sources[1..]),
    };
    let bytes = others.iter().fold(first.bytes(), |bytes, other| bytes + other.bytes());
    if !context.has_memory_for(bytes) {
        return Err(CommandError::NO_MEMORY);
    }
    let limit = if context.must_obey() { u64::MAX } else { max_filter_bytes() };
    let union = first.united(others, limit)?;
    if union.is_overfull() {
        return Err(CommandError::FULL);
    }
    key.set(Value::Filter(union));
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.merge");
    context.reply_ok();
    Ok(())
}
