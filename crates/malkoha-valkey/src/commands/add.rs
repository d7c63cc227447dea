//! CF.RESERVE, and everything that adds items.

use super::many::{AT_ONCE, Many, Verb};
use super::options::{self, Wanted, spelled_out, wanted};
use super::{CommandError, expire, filter_mut, hash, limit, still_here};
use crate::server::{Args, Context, Given, Key, Promised, defaults, max_filter_bytes};
use crate::value::{Refused, StoredFilter, Value};

/// The last word of a CF.RESERVE for a filter that came from RedisBloom.
const BESIDE: &[u8] = b"BESIDE";

/// Larger new filters are made by a thread, because clearing their memory takes long.
const LITTLE: u64 = 1 << 20;

/// CF.RESERVE key capacity [options] [BESIDE]
pub(super) fn reserve(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let is_beside = args.len() > 3 && args.get(args.len() - 1).eq_ignore_ascii_case(BESIDE);
    is_free(&context.open(args, 1), is_beside)?;
    let capacity = options::capacity(args.get(2))?;
    let options = args.iter(3).take(args.len() - 3 - usize::from(is_beside));
    let wanted = wanted(defaults(Some(capacity)), options)?;
    if is_beside && wanted.expiry.is_some() {
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
    context.beside(args, bytes < LITTLE, 1, work, move |context, args, filter| {
        still_here(context, args)?;
        let mut key = context.open_mut(args, 1);
        is_free(&key, is_beside)?;
        put(context, args, &mut key, &wanted, filter?);
        context.reply_ok();
        Ok(())
    })
}

/// Whether a key can get a filter: it has none, or only what RedisBloom had if the new one shall be
/// beside that.
fn is_free(key: &Key<'_>, is_beside: bool) -> Result<(), CommandError> {
    match key.get()? {
        Some(Value::RedisBloom(_)) if is_beside => Ok(()),
        _ if is_beside => Err(CommandError::NOT_OF_REDISBLOOM),
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
    let limit = if may_be_at_limit { limit(context) } else { u64::MAX };
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
    let request = InsertRequest::parse(args)?;
    insert_many(context, args, &request, Verb::Add, reply_added)
}

/// CF.MADD key item...
pub(super) fn add_many(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let request = InsertRequest { capacity: None, may_create: true, first: 2 };
    insert_many(context, args, &request, Verb::Add, reply_added)
}

/// CF.INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item...
pub(super) fn insert_nx(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let request = InsertRequest::parse(args)?;
    insert_many(context, args, &request, Verb::AddAbsent, |context, outcomes| {
        context.reply_array(outcomes.len());
        for outcome in outcomes {
            context.reply_integer(outcome.map_or(-1, i64::from));
        }
    })
}

/// Integers 1 and -1 in RESP2, booleans in RESP3.
fn reply_added(context: &Context, outcomes: &[Result<bool, Refused>]) {
    let is_resp3 = context.is_resp3();
    context.reply_array(outcomes.len());
    for outcome in outcomes {
        match outcome {
            _ if is_resp3 => context.reply_bool(outcome.is_ok()),
            Ok(_) => context.reply_integer(1),
            Err(_) => context.reply_integer(-1),
        }
    }
}

struct InsertRequest {
    capacity: Option<u64>,
    may_create: bool,
    /// The number of the first item's argument.
    first: usize,
}

impl InsertRequest {
    fn parse(args: &Args<'_>) -> Result<Self, CommandError> {
        let mut request = Self { capacity: None, may_create: true, first: 0 };
        let mut at = 2;
        while at < args.len() {
            let is = |option: &str| args.get(at).eq_ignore_ascii_case(option.as_bytes());
            if is("ITEMS") {
                request.first = at + 1;
                break;
            } else if is("NOCREATE") {
                request.may_create = false;
            } else if is("CAPACITY") {
                at += 1;
                if at == args.len() {
                    return Err(CommandError::Arity);
                }
                request.capacity = Some(options::capacity(args.get(at))?);
            } else {
                return Err(CommandError::UNKNOWN_ARGUMENT);
            }
            at += 1;
        }
        if request.first == 0 || request.first == args.len() {
            return Err(CommandError::Arity);
        }
        Ok(request)
    }
}

/// Adds items, and replies for each whether it was added or was there already.
fn insert_many(
    context: &Context,
    args: &Args<'_>,
    request: &InsertRequest,
    verb: Verb,
    reply: impl Fn(&Context, &[Result<bool, Refused>]),
) -> Result<(), CommandError> {
    let mut key = context.open_mut(args, 1);
    if !request.may_create && key.get()?.is_none() {
        return Err(CommandError::NOT_FOUND);
    }
    let filter = filter_or_new(context, args, &mut key, request.capacity)?;
    if args.len() - request.first > AT_ONCE {
        drop(key);
        return context.perform(args, Many::new(verb, request.first));
    }
    let items: Vec<&[u8]> = args.iter(request.first).collect();
    let outcomes = filter.insert_all(&items, verb == Verb::AddAbsent, limit(context));
    if outcomes.contains(&Ok(true)) {
        if outcomes.iter().any(Result::is_err) {
            replicate_added(context, args, request, &outcomes);
        } else {
            context.replicate_verbatim();
        }
        context.changed(args, 1, c"cf.insert");
    }
    reply(context, &outcomes);
    Ok(())
}

/// Tells replicas what was added if that is not all that the client sent: limits may differ.
fn replicate_added(
    context: &Context,
    args: &Args<'_>,
    request: &InsertRequest,
    outcomes: &[Result<bool, Refused>],
) {
    let items = args.iter(request.first).zip(outcomes);
    let added = items.filter(|(_, outcome)| **outcome == Ok(true)).map(|(item, _)| item);
    let words: Vec<&[u8]> = [args.get(1)].into_iter().chain(added).collect();
    context.replicate(c"CF.MADD", &words);
}

/// The key's filter; a new one with the default properties if there is none, or only what
/// RedisBloom had.
fn filter_or_new<'k>(
    context: &Context,
    args: &Args<'_>,
    key: &'k mut Key<'_>,
    capacity: Option<u64>,
) -> Result<&'k mut StoredFilter, CommandError> {
    let properties = match key.get()? {
        None => Some(defaults(capacity)),
        Some(Value::RedisBloom(chain)) => {
            Some(defaults(None).beside(chain).ok_or(CommandError::FULL)?)
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
    let filter = filter_mut(key)?.ok_or(CommandError::NOT_FOUND)?;
    expire::before_change(context, args, filter)?;
    Ok(filter)
}

/// Gives a key an empty filter, beside what RedisBloom had, and tells replicas all about it.
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
    let beside = older.is_some().then_some(BESIDE);
    let words: Vec<&[u8]> = [args.get(1)].into_iter().chain(words).chain(beside).collect();
    key.set(Value::Filter(filter.beside(older)));
    context.replicate(c"CF.RESERVE", &words);
    context.changed(args, 1, c"cf.reserve");
}
