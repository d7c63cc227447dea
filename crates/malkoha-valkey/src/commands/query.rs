//! CF.EXISTS, CF.MEXISTS, CF.COUNT, CF.INFO.

use super::{CommandError, Holder, holder};
use crate::server::{Args, Context};
use crate::value::{Chain, StoredFilter, Value};

/// CF.EXISTS key item
pub(super) fn exists(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let holder = holder_if_any(&key)?;
    context.reply_bool(holder.is_some_and(|holder| holder.contains(args.get(2))));
    Ok(())
}

/// CF.MEXISTS key item...
pub(super) fn exists_many(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let found = match holder_if_any(&key)? {
        Some(holder) => holder.contains_all(&args.iter(2).collect::<Vec<_>>()),
        None => vec![false; args.len() - 2],
    };
    context.reply_array(found.len());
    found.into_iter().for_each(|found| context.reply_bool(found));
    Ok(())
}

/// CF.COUNT key item
pub(super) fn count(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let holder = holder_if_any(&key)?;
    context.reply_count(holder.map_or(0, |holder| holder.count(args.get(2))));
    Ok(())
}

/// A key that is not there, or is something else, contains nothing.
fn holder_if_any<'k>(key: &'k crate::server::Key<'_>) -> Result<Option<Holder<'k>>, CommandError> {
    match holder(key) {
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
    let fields = match holder(&key)?.ok_or(CommandError::NOT_FOUND)? {
        Holder::Filter(stored) => of_filter(stored),
        Holder::Chain(chain) => of_chain(chain),
    };
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

/// The first eight are RedisBloom's, in its order.
fn of_filter(stored: &StoredFilter) -> Vec<(&'static str, Field)> {
    let (filter, properties, older) = (stored.filter(), stored.properties(), stored.older());
    let expected = 1.0 - filter.expected_fpr();
    let expected = 1.0 - expected * older.map_or(1.0, |older| 1.0 - older.expected_fpr());
    let mut fields = vec![
        ("Size", Field::Count(stored.bytes() + size_of::<Value>() as u64)),
        ("Number of buckets", Field::Count(filter.buckets())),
        ("Number of filters", Field::Count(1 + older.map_or(0, |older| older.tables() as u64))),
        ("Number of items inserted", Field::Count(filter.len() + older.map_or(0, Chain::len))),
        ("Number of items deleted", Field::Count(stored.deleted())),
        ("Bucket size", Field::Count(properties.bucket_size.into())),
        ("Expansion rate", Field::Count(properties.expansion.into())),
        ("Max iterations", Field::Count(properties.max_iterations.into())),
        ("Capacity", Field::Count(properties.capacity)),
        ("Error rate asked", Field::Rate(properties.error_rate)),
        ("Error rate expected", Field::Rate(expected)),
        ("Growth", Field::Rate(properties.growth)),
        ("Load", Field::Rate(filter.load_factor())),
        ("Segments", Field::Count(filter.segments() as u64)),
        ("Fingerprint bits", Field::Count(filter.fingerprint_bits().into())),
        ("Hash", Field::Text(filter.hasher().function().name())),
    ];
    if let Some(older) = older {
        fields.extend(of_older(older));
    }
    fields
}

/// RedisBloom's own eight, and what is known of a filter that is still as it had it.
fn of_chain(chain: &Chain) -> Vec<(&'static str, Field)> {
    let shape = chain.shape();
    let mut fields = vec![
        ("Size", Field::Count(chain.bytes() + size_of::<Value>() as u64)),
        ("Number of buckets", Field::Count(shape.buckets)),
        ("Number of filters", Field::Count(chain.tables() as u64)),
        ("Number of items inserted", Field::Count(chain.len())),
        ("Number of items deleted", Field::Count(chain.deleted())),
        ("Bucket size", Field::Count(shape.bucket_size.into())),
        ("Expansion rate", Field::Count(shape.expansion.into())),
        ("Max iterations", Field::Count(shape.max_iterations.into())),
        ("Error rate expected", Field::Rate(chain.expected_fpr())),
        ("Hash", Field::Text("MurmurHash64A")),
    ];
    fields.extend(of_older(chain));
    fields
}

fn of_older(chain: &Chain) -> [(&'static str, Field); 3] {
    [
        ("RedisBloom filters", Field::Count(chain.tables() as u64)),
        ("RedisBloom items", Field::Count(chain.len())),
        ("RedisBloom bytes", Field::Count(chain.bytes())),
    ]
}
