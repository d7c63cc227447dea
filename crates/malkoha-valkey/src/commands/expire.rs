//! The time of filters whose items expire.
//!
//! A primary reads its clock when a command is about to change a filter. If another step of the
//! filter's resolution has begun, it sends CF.ADVANCE to replicas and the append-only file before
//! the command. These never read a clock to change a filter, so all copies agree bit for bit.
//! Lookups read the clock of their own server and change nothing.

use super::options::number;
use crate::error::CommandError;
use crate::server::{Args, Context};

/// CF.ADVANCE key milliseconds
pub(super) fn advance(context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
    let now = number(args.get(2)).ok_or_else(|| CommandError::unparsed("the time"))?;
    let mut key = context.open_mut(args, 1);
    let filter = key.filter_mut()?.ok_or(CommandError::NOT_FOUND)?;
    if !filter.expires() {
        return Err(CommandError::NEVER_EXPIRES);
    }
    context.before_change(args, filter)?;
    filter.advance(now);
    context.replicate_verbatim();
    context.changed(args, 1, c"cf.advance");
    context.reply_ok();
    Ok(())
}
