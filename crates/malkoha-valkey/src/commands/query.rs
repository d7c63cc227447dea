//! CF.EXISTS, CF.MEXISTS, CF.COUNT, CF.DEBUG, CF.INFO.

use super::many::{Many, Verb};
use crate::error::CommandError;
use crate::server::{Args, Context};
use crate::value::{Chain, StoredFilter, Value};

/// CF.EXISTS key item
pub(super) fn exists(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let value = key.whole_if_any()?;
    let found = value.is_some_and(|value| value.contains(args.get(2), context.now(value)));
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
    let value = key.whole_if_any()?;
    context.reply_count(value.map_or(0, |value| value.count(args.get(2), context.now(value))));
    Ok(())
}

/// RedisBloom's eight fields, in its order.
const FIELDS: [&str; 8] = [
    "Size",
    "Number of buckets",
    "Number of filters",
    "Number of items inserted",
    "Number of items deleted",
    "Bucket size",
    "Expansion rate",
    "Max iterations",
];

/// The figures of CF.INFO.
fn counts(value: &Value, now: u64) -> Result<[u64; 8], CommandError> {
    let own = size_of::<Value>() as u64;
    match value {
        Value::Filter(stored) => {
            let (table, properties, older) = (stored.table(), stored.properties(), stored.older());
            Ok([
                stored.bytes() + own,
                table.buckets(),
                1 + older.map_or(0, |older| older.tables() as u64),
                table.len(now) + older.map_or(0, Chain::len),
                stored.deleted(),
                properties.bucket_size.into(),
                properties.expansion.into(),
                properties.max_iterations.into(),
            ])
        }
        Value::RedisBloom(chain) => {
            let shape = chain.shape();
            Ok([
                chain.bytes() + size_of::<Chain>() as u64 + own,
                shape.buckets,
                chain.tables() as u64,
                chain.len(),
                chain.deleted(),
                shape.bucket_size.into(),
                shape.expansion.into(),
                shape.max_iterations.into(),
            ])
        }
        Value::Loading(_) => Err(CommandError::LOADING),
    }
}

/// CF.DEBUG key: the text of RedisBloom, whose buckets are a power of two for the capacity.
pub(super) fn debug(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let value = key.whole()?.ok_or(CommandError::NOT_FOUND)?;
    let [_, mut buckets, filters, items, deletes, size, expansion, iterations] =
        counts(value, context.now(value))?;
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
    let value = key.whole()?.ok_or(CommandError::NOT_FOUND)?;
    let now = context.now(value);
    let counts = counts(value, now)?.map(Field::Count);
    let mut fields: Vec<(&str, Field)> = FIELDS.into_iter().zip(counts).collect();
    match value {
        Value::Filter(stored) => fields.extend(of_filter(stored, now)),
        _ => fields.extend(value.older().into_iter().flat_map(of_chain)),
    }
    fields.extend(value.older().into_iter().flat_map(of_older));
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

fn of_filter(stored: &StoredFilter, now: u64) -> Vec<(&'static str, Field)> {
    let (table, properties, older) = (stored.table(), stored.properties(), stored.older());
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let load = table.len(now) as f64 / table.slots() as f64;
    let expected = 1.0 - table.expected_fpr();
    let expected = 1.0 - expected * older.map_or(1.0, |older| 1.0 - older.expected_fpr());
    let mut fields = vec![
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
    fields
}

fn of_chain(chain: &Chain) -> [(&'static str, Field); 2] {
    [
        ("Error rate expected", Field::Rate(chain.expected_fpr())),
        ("Hash", Field::Text("MurmurHash64A")),
    ]
}

fn of_older(chain: &Chain) -> [(&'static str, Field); 3] {
    [
        ("RedisBloom filters", Field::Count(chain.tables() as u64)),
        ("RedisBloom items", Field::Count(chain.len())),
        ("RedisBloom bytes", Field::Count(chain.bytes())),
    ]
}
