//! The time of filters whose items expire.
//!
//! A primary reads its clock when a command is about to change a filter. If another step of the
//! filter's resolution has begun, it sends CF.ADVANCE to replicas and the append-only file before
//! the command. These never read a clock to change a filter, so all copies agree bit for bit.
//! Lookups read the clock of their own server and change nothing.

use super::options::number;
use super::{CommandError, filter_mut, unless_lent};
use crate::server::{Args, Context};
use crate::value::StoredFilter;

/// CF.ADVANCE key milliseconds
pub(super) fn advance(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let now = number(args.get(2)).ok_or_else(|| CommandError::unparsed("the time"))?;
    let mut key = context.open_mut(args, 1);
    let filter = filter_mut(&mut key)?.ok_or(CommandError::NOT_FOUND)?;
    if !filter.expires() {
        return Err(CommandError::NEVER_EXPIRES);
    }
    before_change(context, args, filter)?;
    filter.advance(now);
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.advance");
    context.reply_ok();
    Ok(())
}

/// What comes before a filter is changed. It waits until nobody reads the filter beside the server,
/// where it can, since changing it would copy it. Where items expire, the filter is told the time,
/// and replicas too: right before the command, since what it changes is replicated after that.
pub(super) fn before_change(
    context: &Context,
    args: &Args<'_>,
    filter: &mut StoredFilter,
) -> Result<(), CommandError> {
    unless_lent(context, filter)?;
    if !filter.expires() {
        return Ok(());
    }
    if let Some(step) = filter.step_begun(context.milliseconds())
        && !context.must_obey()
    {
        filter.advance(step);
        context.replicate(c"CF.ADVANCE", &[args.get(1), step.to_string().as_bytes()]);
    }
    Ok(())
}
