//! CF.MERGE.

use malkoha::UnionError;

use super::options::fits;
use super::{CommandError, filter};
use crate::server::{Args, Context, Key};
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
    let union = match filter(&key)? {
        Some(destination) => destination.united(&sources)?,
        None => sources[0].united(&sources[1..])?,
    };
    if union.is_overfull() {
        return Err(CommandError::FULL);
    }
    if !context.must_obey() && !fits(union.bytes()) {
        return Err(CommandError::TOO_LARGE);
    }
    key.set(Value::Filter(union));
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.merge");
    context.reply_ok();
    Ok(())
}

impl From<UnionError> for CommandError {
    fn from(error: UnionError) -> Self {
        match error {
            UnionError::Seed => Self::OTHER_HASH,
            error => Self::message(format!("ERR {error}")),
        }
    }
}
