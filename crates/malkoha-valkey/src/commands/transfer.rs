//! Filters as bytes: CF.SCANDUMP, CF.LOADCHUNK, CF.DUMP, CF.LOAD.

use super::options::number;
use crate::error::CommandError;
use crate::server::{Args, Context, Given, Key, Step, Task};
use crate::value::{Chain, HEADER_BYTES, Loading, OWN_CHUNKS, Small, StoredFilter, Value};

/// Bytes of a filter that is written or read at once.
const LITTLE: u64 = 256 << 10;

/// CF.SCANDUMP key iterator
pub(super) fn scan_dump(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let key = context.open(args, 1);
    let value = key.whole()?.ok_or(CommandError::NOT_FOUND)?;
    let position = number(args.get(2)).ok_or(CommandError::INVALID_POSITION)?;
    context.reply_array(2);
    if let Some((next, bytes)) = value.chunk_behind(position) {
        context.reply_count(next);
        context.reply_bytes(&bytes);
    } else {
        context.reply_integer(0);
        context.reply_null();
    }
    Ok(())
}

/// CF.LOADCHUNK key iterator bytes
pub(super) fn load_chunk(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    context.perform(args, LoadChunk)
}

/// Takes a chunk, after those that must be read again.
struct LoadChunk;

impl Task for LoadChunk {
    fn step(&mut self, context: &Context, args: &Args<'_>) -> Result<Step, CommandError> {
        if let Some(Value::Loading(loading)) = context.open_mut(args, 1).get_mut()?
            && loading.catch_up()
        {
            return Ok(Step::More);
        }
        load_one(context, args).map(|()| Step::Done)
    }
}

fn load_one(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let number = number(args.get(2)).filter(|&number| number > 0);
    let number = number.ok_or(CommandError::INVALID_POSITION)?;
    let bytes = args.get(3);
    let mut key = context.open_mut(args, 1);
    let taken = match key.get()? {
        Some(Value::Loading(loading)) => loading.bytes(),
        _ => 0,
    };
    if taken.saturating_add(bytes.len() as u64) > context.limit() {
        return Err(CommandError::too_large());
    }
    if let Ok(header) = bytes.try_into()
        && number == 1
    {
        begin_redisbloom(context, &mut key, header)?;
    } else if let Some(Value::RedisBloom(chain)) = key.get_mut()?
        && number != OWN_CHUNKS + 1
    {
        chain.load(number, bytes).map_err(|_| CommandError::BAD_CHUNK)?;
    } else {
        take_chunk(&mut key, number, bytes)?;
    }
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.loadchunk");
    context.reply_ok();
    Ok(())
}

/// Takes the header of a dump of RedisBloom.
fn begin_redisbloom(
    context: &Context,
    key: &mut Key<'_>,
    header: &[u8; HEADER_BYTES],
) -> Result<(), CommandError> {
    if key.get()?.is_some() {
        return Err(CommandError::EXISTS);
    }
    let room = |bytes: u64| context.check_room(bytes).is_ok();
    let chain = Chain::begin(header, room).map_err(|_| CommandError::NOT_CREATED)?;
    key.set(Value::RedisBloom(Box::new(chain)));
    Ok(())
}

/// Takes a chunk of ours. Its number starts at [`OWN_CHUNKS`] after RedisBloom's part.
fn take_chunk(key: &mut Key<'_>, number: u64, bytes: &[u8]) -> Result<(), CommandError> {
    if number == 1 || number == OWN_CHUNKS + 1 {
        let is_free = match key.get()? {
            None => true,
            Some(value) => number > 1 && matches!(value, Value::RedisBloom(_)),
        };
        if !is_free {
            return Err(CommandError::EXISTS);
        }
        if number == 1 && Small::is_chunk(bytes) {
            let small = Small::from_chunk(bytes).map_err(|_| CommandError::NOT_CREATED)?;
            key.set(Value::Filter(StoredFilter::Small(small)));
            return Ok(());
        }
        if bytes.len() < HEADER_BYTES {
            return Err(CommandError::INVALID_HEADER);
        }
        let loading = Loading::begin(bytes.to_vec()).map_err(|_| CommandError::NOT_CREATED)?;
        let loading = loading.with_older(key.take_redisbloom());
        key.set(Value::Loading(Box::new(loading)));
        return Ok(());
    }
    let Some(value) = key.get_mut()? else { return Err(CommandError::NOT_FOUND) };
    let Value::Loading(loading) = value else { return Err(CommandError::BAD_CHUNK) };
    if loading.next() != number.checked_sub(OWN_CHUNKS).unwrap_or(number) {
        return Err(CommandError::BAD_CHUNK);
    }
    if let Some(filter) = loading.push(bytes.to_vec()).map_err(|_| CommandError::BAD_CHUNK)? {
        key.set(Value::Filter(filter));
    }
    Ok(())
}

/// CF.DUMP key
pub(super) fn dump(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let mut key = context.open(args, 1);
    let Some(stored) = key.ours()? else {
        context.reply_null();
        return Ok(());
    };
    if stored.is_waited_for() && context.can_wait() {
        return Err(CommandError::Lent);
    }
    let (is_little, table) = (stored.bytes() < LITTLE, stored.lend());
    let work = move |given: Given<'_>| given.reply_bytes(&table.to_bytes());
    context.in_background(args, is_little, 1, work, |_, _, ()| Ok(()))
}

/// CF.LOAD key bytes
pub(super) fn load(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    if context.open(args, 1).get()?.is_some() {
        return Err(CommandError::EXISTS);
    }
    let bytes = args.get(2);
    context.check_room(bytes.len() as u64)?;
    let is_little = (bytes.len() as u64) < LITTLE;
    let work = |given: Given<'_>| StoredFilter::open(given.argument);
    context.in_background(args, is_little, 2, work, |context, args, filter| {
        let filter = filter.map_err(|error| CommandError::message(format!("ERR {error}")))?;
        context.still_here(args)?;
        let mut key = context.open_mut(args, 1);
        if key.get()?.is_some() {
            return Err(CommandError::EXISTS);
        }
        key.set(Value::Filter(filter));
        context.replicate_verbatim();
        context.changed(args, 1, c"cf.load");
        context.reply_ok();
        Ok(())
    })
}
