//! CF.RESERVE, and everything that adds items.

use super::hash;
use super::many::{Many, Verb};
use super::options::{self, Wanted, spelled_out, wanted};
use crate::error::CommandError;
use crate::server::{Args, Context, Given, Key, Promised, defaults, max_filter_bytes};
use crate::value::{StoredFilter, Value};

/// The last word of a CF.RESERVE for a filter that came from RedisBloom.
const BESIDE: &[u8] = b"BESIDE";

/// Larger new filters are made by a thread, because clearing their memory takes long.
const LITTLE: u64 = 1 << 20;

/// CF.RESERVE key capacity [options] [BESIDE]
pub(super) fn reserve(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let is_added = args.len() > 3 && args.get(args.len() - 1).eq_ignore_ascii_case(BESIDE);
    is_free(&context.open(args, 1), is_added)?;
    let capacity = options::capacity(args.get(2))?;
    let options = args.iter(3).take(args.len() - 3 - usize::from(is_added));
    let wanted = wanted(defaults(Some(capacity)), options)?;
    if is_added && wanted.expiry.is_some() {
        return Err(CommandError::BESIDE_EXPIRES);
    }
    let hasher = hash::hasher(context, args, wanted.hash)?;
    let bytes = options::room_for(context, &wanted)?;
    let Wanted { properties, expiry, .. } = wanted;
    // Until the server counts it.
    let promised = Promised::of(bytes);
    let work = move |_: Given<'_>| {
        let filter = StoredFilter::create(properties, expiry, hasher);
        drop(promised);
        filter
    };
    context.in_background(args, bytes < LITTLE, 1, work, move |context, args, filter| {
        context.still_here(args)?;
        let mut key = context.open_mut(args, 1);
        is_free(&key, is_added)?;
        put(context, args, &mut key, &wanted, filter?);
        context.reply_ok();
        Ok(())
    })
}

/// Whether a key can get a filter: it has none, or only RedisBloom's part, to which the new one is
/// added.
fn is_free(key: &Key<'_>, is_added: bool) -> Result<(), CommandError> {
    match key.get()? {
        Some(Value::RedisBloom(_)) if is_added => Ok(()),
        _ if is_added => Err(CommandError::NOT_OF_REDISBLOOM),
        Some(_) => Err(CommandError::EXISTS),
        None => Ok(()),
    }
}

/// CF.ADD key item
pub(super) fn add(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    add_one(context, args, false)
}

/// CF.ADDNX key item
pub(super) fn add_nx(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    add_one(context, args, true)
}

fn add_one(context: &Context, args: &Args<'_>, absent_only: bool) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    let filter = filter_or_new(context, args, &mut key, None)?;
    let item = args.get(2);
    // A replica applies what its primary sends. Asking whether this is one takes as long as adding.
    let may_be_at_limit = filter.bytes() >= max_filter_bytes();
    let limit = if may_be_at_limit { context.limit() } else { u64::MAX };
    let added = filter.insert(item, absent_only, limit)?;
    if added {
        // Replicas have the same filter, so the command has the same result there.
        context.replicate_verbatim();
        context.changed(args, 1, c"cf.add");
    }
    context.reply_bool(added);
    Ok(())
}

/// CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item...
pub(super) fn insert(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    insert_many(context, args, Verb::Add)
}

/// CF.INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item...
pub(super) fn insert_nx(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    insert_many(context, args, Verb::AddAbsent)
}

/// CF.MADD key item...
pub(super) fn add_many(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    context.perform(args, Many::new(Verb::Add, 2))
}

fn insert_many(context: &Context, args: &Args<'_>, verb: Verb) -> Result<(), CommandError> {
    let (mut many, mut may_create) = (Many::new(verb, 0), true);
    let mut at = 2;
    while at < args.len() && many.first == 0 {
        let is = |option: &str| args.get(at).eq_ignore_ascii_case(option.as_bytes());
        if is("ITEMS") {
            many.first = at + 1;
        } else if is("NOCREATE") {
            may_create = false;
        } else if is("CAPACITY") {
            at += 1;
            if at == args.len() {
                return Err(CommandError::Arity);
            }
            let capacity = options::capacity(args.get(at))?;
            options::check_capacity(capacity, defaults(None).bucket_size)?;
            many.capacity = Some(capacity);
        } else {
            return Err(CommandError::UNKNOWN_ARGUMENT);
        }
        at += 1;
    }
    if many.first == 0 || many.first == args.len() {
        return Err(CommandError::Arity);
    }
    if !may_create && context.open(args, 1).get()?.is_none() {
        return Err(CommandError::NOT_FOUND);
    }
    context.perform(args, many)
}

/// The key's filter; a new one with the default properties if there is none, or only what
/// RedisBloom had.
pub(super) fn filter_or_new<'k>(
    context: &Context,
    args: &Args<'_>,
    key: &'k mut Key<'_>,
    capacity: Option<u64>,
) -> Result<&'k mut StoredFilter, CommandError> {
    let properties = match key.get()? {
        None => Some(defaults(capacity)),
        Some(Value::RedisBloom(chain)) => {
            Some(defaults(None).added_to(chain).ok_or(CommandError::FULL)?)
        }
        Some(_) => None,
    };
    if let Some(properties) = properties {
        let hasher = hash::hasher(context, args, None)?;
        let wanted = Wanted { properties, expiry: None, hash: None };
        options::room_for(context, &wanted)?;
        let filter = StoredFilter::create(properties, None, hasher)?;
        put(context, args, key, &wanted, filter);
    }
    let filter = key.filter_mut()?.ok_or(CommandError::NOT_FOUND)?;
    context.before_change(args, filter)?;
    Ok(filter)
}

/// Gives a key an empty filter, in addition to RedisBloom's part, and replicates it.
fn put(
    context: &Context,
    args: &Args<'_>,
    key: &mut Key<'_>,
    wanted: &Wanted,
    filter: StoredFilter,
) {
    let older = key.take_redisbloom();
    let (words, of_hash) = (spelled_out(wanted), hash::spelled_out(filter.hasher()));
    let words = words.iter().chain(&of_hash).map(Vec::as_slice);
    let added = older.is_some().then_some(BESIDE);
    let words: Vec<&[u8]> = [args.get(1)].into_iter().chain(words).chain(added).collect();
    key.set(Value::Filter(filter.with_older(older)));
    context.replicate("CF.RESERVE", &words);
    context.changed(args, 1, c"cf.reserve");
}
