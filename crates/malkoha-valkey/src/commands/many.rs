//! CF.MADD, CF.INSERT, CF.INSERTNX, CF.MDEL and CF.MEXISTS with many items, a piece at a time.
//! Each piece is replicated as what it changed, so replicas are not blocked either. Between pieces,
//! other clients see the items that were done so far.

use std::mem;
use std::time::Instant;

use super::{CommandError, delete, expire, filter_mut, holder_if_any, limit};
use crate::server::{Args, Context, Kept, PIECE, Step, Task};
use crate::value::{Refused, Value};

/// Items that a command does at once, well within a millisecond.
pub(super) const AT_ONCE: usize = 1024;
/// Items between two looks at the clock: few, because segments of a growing filter are rebuilt at
/// about the same time, for up to a millisecond each.
const BATCH: usize = 64;
/// Replies between two looks at the clock.
const REPLIES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Add,
    AddAbsent,
    Delete,
    Exists,
}

/// The items from a number on, and the results of those that were done.
pub(super) struct Many {
    verb: Verb,
    /// The number of the first item's argument.
    first: usize,
    outcomes: Vec<Outcome>,
    /// The number of items that have a reply.
    replied: usize,
    /// Those that were done, if others are served in between.
    kept: Vec<Kept>,
}

/// Whether an item was added, deleted or in; or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    No,
    Yes,
    Refused,
}

impl From<bool> for Outcome {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

impl From<Result<bool, Refused>> for Outcome {
    fn from(added: Result<bool, Refused>) -> Self {
        added.map_or(Self::Refused, Self::from)
    }
}

impl Many {
    pub(super) fn new(verb: Verb, first: usize) -> Self {
        Self { verb, first, outcomes: Vec::new(), replied: 0, kept: Vec::new() }
    }

    /// Does some of the items that are left.
    fn work(&mut self, context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
        let begun = Instant::now();
        self.before_piece(context, args)?;
        let start = self.first + self.outcomes.len();
        if self.outcomes.is_empty() {
            // All at once: to copy megabytes when they grow takes long too.
            let items = args.len() - self.first;
            self.outcomes.reserve(items);
            self.kept.reserve(if context.can_wait() { items } else { 0 });
        }
        while self.first + self.outcomes.len() < args.len() {
            let from = self.first + self.outcomes.len();
            let items: Vec<&[u8]> = args.iter(from).take(BATCH).collect();
            self.some(context, args, &items)?;
            if context.can_wait() {
                self.kept.extend((from..from + items.len()).map(|number| args.keep(number)));
            }
            if begun.elapsed() >= PIECE && context.can_wait() {
                break;
            }
        }
        self.replicate(context, args, start);
        Ok(())
    }

    /// Tells the time once for a piece, and not for each batch: replicas hear of all that the piece
    /// changed after that.
    fn before_piece(&self, context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
        if self.verb == Verb::Exists {
            return Ok(());
        }
        match delete::existing(&mut context.open_mut(args, 1), CommandError::GONE)? {
            Value::Filter(filter) => expire::before_change(context, args, filter),
            Value::RedisBloom(_) | Value::Loading(_) => Ok(()),
        }
    }

    fn some(
        &mut self,
        context: &Context,
        args: &Args<'_>,
        items: &[&[u8]],
    ) -> Result<(), CommandError> {
        if self.verb == Verb::Exists {
            let key = context.open(args, 1);
            let found = match holder_if_any(&key)? {
                Some(holder) => holder.contains_all(items, holder.now(context)),
                None if context.has_moved(args) => return Err(CommandError::MOVED),
                None => vec![false; items.len()],
            };
            self.outcomes.extend(found.into_iter().map(Outcome::from));
            return Ok(());
        }
        let mut key = context.open_mut(args, 1);
        if self.verb == Verb::Delete {
            let removed = match delete::existing(&mut key, CommandError::GONE)? {
                Value::Filter(filter) => filter.remove_all(items),
                Value::RedisBloom(chain) => items.iter().map(|item| chain.remove(item)).collect(),
                Value::Loading(_) => return Err(CommandError::LOADING),
            };
            self.outcomes.extend(removed.into_iter().map(Outcome::from));
        } else {
            let filter = filter_mut(&mut key)?.ok_or(CommandError::GONE)?;
            let added = filter.insert_all(items, self.verb == Verb::AddAbsent, limit(context));
            self.outcomes.extend(added.into_iter().map(Outcome::from));
        }
        Ok(())
    }

    /// Tells replicas of what was changed from an argument on.
    fn replicate(&self, context: &Context, args: &Args<'_>, start: usize) {
        let (command, event) = match self.verb {
            Verb::Add | Verb::AddAbsent => (c"CF.MADD", c"cf.insert"),
            Verb::Delete => (c"CF.MDEL", c"cf.del"),
            Verb::Exists => return,
        };
        let outcomes = &self.outcomes[start - self.first..];
        let changed = (start..).zip(outcomes).filter(|(_, outcome)| **outcome == Outcome::Yes);
        let mut numbers = vec![1];
        numbers.extend(changed.map(|(number, _)| number));
        if numbers.len() > 1 {
            context.replicate_some(command, args, &numbers);
            context.changed(args, 1, event);
        }
    }

    /// Replies of some of the items that are left.
    fn reply(&mut self, context: &Context) {
        let begun = Instant::now();
        if self.replied == 0 {
            context.reply_array(self.outcomes.len());
        }
        let is_resp3 = context.is_resp3();
        while self.replied < self.outcomes.len() {
            let end = self.outcomes.len().min(self.replied + REPLIES);
            for &outcome in &self.outcomes[self.replied..end] {
                let is_integer = match self.verb {
                    Verb::AddAbsent => true,
                    Verb::Add => !is_resp3,
                    Verb::Delete | Verb::Exists => false,
                };
                match outcome {
                    Outcome::Refused if is_integer => context.reply_integer(-1),
                    _ if is_integer => context.reply_integer((outcome == Outcome::Yes).into()),
                    _ => context.reply_bool(outcome == Outcome::Yes),
                }
            }
            self.replied = end;
            if begun.elapsed() >= PIECE && context.can_wait() {
                break;
            }
        }
    }
}

impl Task for Many {
    fn step(&mut self, context: &Context, args: &Args<'_>) -> Result<Step, CommandError> {
        let items = args.len() - self.first;
        if self.outcomes.len() < items {
            return match self.work(context, args) {
                Err(CommandError::Lent) => Ok(Step::Wait),
                Err(error) if error == CommandError::GONE && context.has_moved(args) => {
                    // Clients send the whole command again after the first of these: not where it
                    // would add or delete what it has added or deleted already.
                    let is_safe = self.outcomes.is_empty() || self.verb == Verb::AddAbsent;
                    Err(if is_safe { CommandError::MOVED } else { CommandError::MOVED_AMID })
                }
                outcome => outcome.map(|()| Step::More),
            };
        }
        self.reply(context);
        Ok(if self.replied < items { Step::More } else { Step::Done })
    }

    fn leftovers(&mut self) -> Vec<Kept> {
        mem::take(&mut self.kept)
    }
}
