//! CF.EXISTS, CF.MEXISTS, CF.COUNT, CF.INFO.

use super::{CommandError, filter};
use crate::server::{Args, Context};
use crate::value::{StoredFilter, Value};

/// CF.EXISTS key item
pub(super) fn exists(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let filter = filter_if_any(&key)?;
    let is_in = filter.is_some_and(|filter| {
        let hash = filter.hash(args.get(2));
        filter.filter().contains_hash(hash)
    });
    context.reply_bool(is_in);
    Ok(())
}

/// CF.MEXISTS key item...
pub(super) fn exists_many(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let mut found = vec![false; args.len() - 2];
    if let Some(filter) = filter_if_any(&key)? {
        let hashes = filter.hashes(args.iter(2));
        filter.filter().contains_hashes(&hashes, &mut found);
    }
    context.reply_array(found.len());
    found.into_iter().for_each(|found| context.reply_bool(found));
    Ok(())
}

/// CF.COUNT key item
pub(super) fn count(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let count = filter_if_any(&key)?.map_or(0, |filter| {
        let hash = filter.hash(args.get(2));
        filter.filter().count_hash(hash)
    });
    context.reply_count(count);
    Ok(())
}

/// A key that is not there, or is something else, contains nothing.
fn filter_if_any<'k>(
    key: &'k crate::server::Key<'_>,
) -> Result<Option<&'k StoredFilter>, CommandError> {
    match filter(key) {
        Err(CommandError::WrongType) => Ok(None),
        other => other,
    }
}

enum Field {
    Count(u64),
    Rate(f64),
    Text(&'static str),
}

/// CF.INFO key
pub(super) fn info(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let stored = filter(&key)?.ok_or(CommandError::NOT_FOUND)?;
    let (filter, properties) = (stored.filter(), stored.properties());
    let buckets = filter.buckets();
    // The first eight are RedisBloom's, in its order.
    let fields = [
        ("Size", Field::Count(stored.bytes() + size_of::<Value>() as u64)),
        ("Number of buckets", Field::Count(buckets)),
        ("Number of filters", Field::Count(1)),
        ("Number of items inserted", Field::Count(filter.len())),
        ("Number of items deleted", Field::Count(stored.deleted())),
        ("Bucket size", Field::Count(properties.bucket_size.into())),
        ("Expansion rate", Field::Count(properties.expansion.into())),
        ("Max iterations", Field::Count(properties.max_iterations.into())),
        ("Capacity", Field::Count(properties.capacity)),
        ("Error rate asked", Field::Rate(properties.error_rate)),
        ("Error rate expected", Field::Rate(filter.expected_fpr())),
        ("Growth", Field::Rate(properties.growth)),
        ("Load", Field::Rate(filter.load_factor())),
        ("Segments", Field::Count(filter.segments() as u64)),
        ("Fingerprint bits", Field::Count(filter.fingerprint_bits().into())),
        ("Hash", Field::Text(filter.hasher().function().name())),
    ];
    context.reply_map(fields.len());
    for (name, field) in fields {
        context.reply_bytes(name.as_bytes());
        match field {
            Field::Count(count) => context.reply_count(count),
            Field::Rate(rate) => context.reply_double(rate),
            Field::Text(text) => context.reply_bytes(text.as_bytes()),
        }
    }
    Ok(())
}
