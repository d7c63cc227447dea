//! CF.EXISTS, CF.MEXISTS, CF.COUNT, CF.DEBUG, CF.INFO.

use super::access::{now, whole, whole_if_any};
use super::many::{Many, Verb};
use crate::error::CommandError;
use crate::server::{Args, Context};
use crate::value::{Chain, StoredFilter, Value};

/// CF.EXISTS key item
pub(super) fn exists(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let value = whole_if_any(&key)?;
    let found = value.is_some_and(|value| value.contains(args.get(2), now(context, value)));
    context.reply_bool(found);
    Ok(())
}

/// CF.MEXISTS key item...
pub(super) fn exists_many(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    context.perform(args, Many::new(Verb::Exists, 2))
}

/// CF.COUNT key item
pub(super) fn count(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let value = whole_if_any(&key)?;
    context.reply_count(value.map_or(0, |value| value.count(args.get(2), now(context, value))));
    Ok(())
}

/// CF.DEBUG key: the text of RedisBloom, whose buckets are a power of two for the capacity.
pub(super) fn debug(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let value = whole(&key)?.ok_or(CommandError::NOT_FOUND)?;
    let of_redisbloom = |(_, field): &(_, Field)| match field {
        Field::Count(count) => *count,
        Field::Rate(_) | Field::Text(_) => 0,
    };
    let counts: Vec<u64> = fields(context, value)?.iter().take(8).map(of_redisbloom).collect();
    let [_, mut buckets, filters, items, deletes, size, expansion, iterations] = counts[..] else {
        return Err(CommandError::INTERNAL);
    };
    if let Value::Filter(stored) = value {
        buckets = (stored.properties().capacity / size.max(1)).next_power_of_two();
    }
    let text = format!(
        "bktsize:{size} buckets:{buckets} items:{items} deletes:{deletes} filters:{filters} \
         max_iterations:{iterations} expansion:{expansion}"
    );
    context.reply_bytes(text.as_bytes());
    Ok(())
}

enum Field {
    Count(u64),
    Rate(f64),
    Text(&'static str),
}

/// CF.INFO key
pub(super) fn info(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let value = whole(&key)?.ok_or(CommandError::NOT_FOUND)?;
    let fields = fields(context, value)?;
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
fn fields(context: &Context, value: &Value) -> Result<Vec<(&'static str, Field)>, CommandError> {
    match value {
        Value::Filter(stored) => Ok(of_filter(stored, now(context, value))),
        Value::RedisBloom(chain) => Ok(of_chain(chain)),
        Value::Loading(_) => Err(CommandError::LOADING),
    }
}

fn of_filter(stored: &StoredFilter, now: u64) -> Vec<(&'static str, Field)> {
    let (table, properties, older) = (stored.table(), stored.properties(), stored.older());
    let items = table.len(now);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let load = items as f64 / table.slots() as f64;
    let expected = 1.0 - table.expected_fpr();
    let expected = 1.0 - expected * older.map_or(1.0, |older| 1.0 - older.expected_fpr());
    let mut fields = vec![
        ("Size", Field::Count(stored.bytes() + size_of::<Value>() as u64)),
        ("Number of buckets", Field::Count(table.buckets())),
        ("Number of filters", Field::Count(1 + older.map_or(0, |older| older.tables() as u64))),
        ("Number of items inserted", Field::Count(items + older.map_or(0, Chain::len))),
        ("Number of items deleted", Field::Count(stored.deleted())),
        ("Bucket size", Field::Count(properties.bucket_size.into())),
        ("Expansion rate", Field::Count(properties.expansion.into())),
        ("Max iterations", Field::Count(properties.max_iterations.into())),
        ("Capacity", Field::Count(properties.capacity)),
        ("Error rate asked", Field::Rate(properties.error_rate)),
        ("Error rate expected", Field::Rate(expected)),
        ("Growth", Field::Rate(properties.growth)),
        ("Load", Field::Rate(load)),
        ("Segments", Field::Count(table.segments() as u64)),
        ("Fingerprint bits", Field::Count(table.fingerprint_bits().into())),
        ("Hash", Field::Text(table.hasher().function().name())),
    ];
    if let Some(filter) = table.expiring() {
        #[expect(clippy::cast_precision_loss, reason = "a time in seconds")]
        let seconds = |ms: u64| Field::Rate(ms as f64 / 1000.0);
        fields.extend([
            ("Items expire after", seconds(filter.ttl())),
            ("Resolution", seconds(filter.resolution())),
            ("Time", Field::Count(filter.now())),
        ]);
    }
    if let Some(older) = older {
        fields.extend(of_older(older));
    }
    fields
}

/// RedisBloom's own eight, and what is known of a filter that is still as it had it.
fn of_chain(chain: &Chain) -> Vec<(&'static str, Field)> {
    let shape = chain.shape();
    let mut fields = vec![
        ("Size", Field::Count(chain.bytes() + (size_of::<Chain>() + size_of::<Value>()) as u64)),
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
