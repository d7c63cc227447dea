//! CF.MADD, CF.INSERT, CF.INSERTNX, CF.MDEL and CF.MEXISTS. With many items they work a piece at a
//! time. Each piece is replicated as its changes, so that replicas are not blocked either. Between
//! pieces, other clients see the items that were done so far.

use std::mem;
use std::time::Instant;

use super::add::filter_or_new;
use crate::error::CommandError;
use crate::server::{Args, Context, Key, PIECE, RetainedString, Step, Task};
use crate::value::{Refused, Value};

/// Items that a command does at once, well within a millisecond.
const AT_ONCE: usize = 1024;
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
    pub(super) first: usize,
    /// Of a filter that the command creates.
    pub(super) capacity: Option<u64>,
    /// Whether each item was added, deleted or in; or why it was not added.
    outcomes: Vec<Result<bool, Refused>>,
    /// The number of items that have a reply.
    replied: usize,
    /// Arguments that were done, if others are served in between.
    retained: Vec<RetainedString>,
}

impl Many {
    pub(super) fn new(verb: Verb, first: usize) -> Self {
        let (outcomes, retained) = (Vec::new(), Vec::new());
        Self { verb, first, capacity: None, outcomes, replied: 0, retained }
    }

    fn is_long(&self, args: &Args<'_>) -> bool {
        args.len() - self.first > AT_ONCE
    }

    /// The begin of a piece, if it must end after [`PIECE`].
    fn clock(&self, context: &Context, args: &Args<'_>) -> Option<Instant> {
        (self.is_long(args) && context.can_wait()).then(Instant::now)
    }

    /// Does some of the remaining items.
    fn work(&mut self, context: &Context, args: &Args<'_>) -> Result<(), CommandError> {
        let begun = self.clock(context, args);
        let start = self.first + self.outcomes.len();
        if self.outcomes.is_empty() {
            // All at once, because copying megabytes when they grow takes long too.
            let items = args.len() - self.first;
            self.outcomes.reserve(items);
            self.retained.reserve(begun.map_or(0, |_| items));
        }
        let outcome = self.piece(context, args, begun);
        self.replicate(context, args, start);
        outcome
    }

    fn piece(
        &mut self,
        context: &Context,
        args: &Args<'_>,
        begun: Option<Instant>,
    ) -> Result<(), CommandError> {
        let mut key = match self.verb {
            Verb::Exists => context.open(args, 1),
            _ => context.open_mut(args, 1),
        };
        self.before_piece(context, args, &mut key)?;
        let batch = if self.is_long(args) { BATCH } else { AT_ONCE };
        while self.first + self.outcomes.len() < args.len() {
            let from = self.first + self.outcomes.len();
            let items: Vec<&[u8]> = args.iter(from).take(batch).collect();
            self.some(context, args, &mut key, &items)?;
            if let Some(begun) = begun {
                self.retained.extend((from..from + items.len()).map(|number| args.retain(number)));
                if begun.elapsed() >= PIECE {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Prepares the change of a piece, and not of each batch: replicas receive all changes of the
    /// piece after the time.
    fn before_piece(
        &self,
        context: &Context,
        args: &Args<'_>,
        key: &mut Key<'_>,
    ) -> Result<(), CommandError> {
        let is_first = self.outcomes.is_empty();
        match self.verb {
            Verb::Exists => return Ok(()),
            Verb::Add | Verb::AddAbsent if is_first => {
                if key.get()?.is_none() && context.has_moved(args) {
                    return Err(CommandError::MOVED);
                }
                return filter_or_new(context, args, key, self.capacity).map(|_| ());
            }
            _ => {}
        }
        let missing = if is_first { CommandError::DELETE_NOT_FOUND } else { CommandError::GONE };
        match key.existing(missing)? {
            Value::Filter(filter) => context.before_change(args, filter),
            Value::RedisBloom(_) | Value::Loading(_) => Ok(()),
        }
    }

    fn some(
        &mut self,
        context: &Context,
        args: &Args<'_>,
        key: &mut Key<'_>,
        items: &[&[u8]],
    ) -> Result<(), CommandError> {
        let outcomes = &mut self.outcomes;
        match self.verb {
            Verb::Exists => {
                let found = match key.whole_if_any()? {
                    Some(value) => value.contains_all(items, context.now(value)),
                    None if context.has_moved(args) => return Err(CommandError::MOVED),
                    None => vec![false; items.len()],
                };
                outcomes.extend(found.into_iter().map(Ok));
            }
            Verb::Delete => {
                let removed = key.existing(CommandError::GONE)?.remove_all(items);
                outcomes.extend(removed.into_iter().map(Ok));
            }
            Verb::Add | Verb::AddAbsent => {
                let filter = key.filter_mut()?.ok_or(CommandError::GONE)?;
                let absent_only = self.verb == Verb::AddAbsent;
                outcomes.extend(filter.insert_all(items, absent_only, context.limit()));
            }
        }
        Ok(())
    }

    /// Sends the changes from an argument on to replicas.
    fn replicate(&self, context: &Context, args: &Args<'_>, start: usize) {
        let (command, event) = match self.verb {
            Verb::Add | Verb::AddAbsent => (c"CF.MADD", c"cf.insert"),
            Verb::Delete => (c"CF.MDEL", c"cf.del"),
            Verb::Exists => return,
        };
        let outcomes = &self.outcomes[start - self.first..];
        if !outcomes.contains(&Ok(true)) {
            return;
        }
        if self.is_long(args) || outcomes.iter().any(Result::is_err) {
            // Limits of replicas may differ.
            let changed = (start..).zip(outcomes).filter(|(_, outcome)| **outcome == Ok(true));
            let numbers: Vec<_> = [1].into_iter().chain(changed.map(|(at, _)| at)).collect();
            context.replicate_some(command, args, &numbers);
        } else {
            context.replicate_verbatim();
        }
        context.changed(args, 1, event);
    }

    /// Replies for some of the remaining items.
    fn reply(&mut self, context: &Context, args: &Args<'_>) {
        let begun = self.clock(context, args);
        if self.replied == 0 {
            context.reply_array(self.outcomes.len());
        }
        let is_integer = match self.verb {
            Verb::AddAbsent => true,
            Verb::Add => !context.is_resp3(),
            Verb::Delete | Verb::Exists => false,
        };
        while self.replied < self.outcomes.len() {
            let end = self.outcomes.len().min(self.replied + REPLIES);
            for &outcome in &self.outcomes[self.replied..end] {
                match outcome {
                    Err(_) if is_integer => context.reply_integer(-1),
                    _ if is_integer => context.reply_integer((outcome == Ok(true)).into()),
                    _ => context.reply_bool(outcome == Ok(true)),
                }
            }
            self.replied = end;
            if begun.is_some_and(|begun| begun.elapsed() >= PIECE) {
                break;
            }
        }
    }
}

impl Task for Many {
    fn step(&mut self, context: &Context, args: &Args<'_>) -> Result<Step, CommandError> {
        let items = args.len() - self.first;
        if self.outcomes.len() < items {
            match self.work(context, args) {
                Ok(()) if self.is_long(args) => return Ok(Step::More),
                Ok(()) => {}
                Err(CommandError::Lent) => return Ok(Step::Wait),
                Err(error) => {
                    // Clients send the whole command again after MOVED: not where it would add or
                    // delete what it has added or deleted already.
                    let is_safe = self.outcomes.is_empty() || self.verb == Verb::AddAbsent;
                    let has_moved = error == CommandError::GONE && context.has_moved(args);
                    return Err(if is_safe && has_moved { CommandError::MOVED } else { error });
                }
            }
        }
        self.reply(context, args);
        Ok(if self.replied < items { Step::More } else { Step::Done })
    }

    fn leftovers(&mut self) -> Vec<RetainedString> {
        mem::take(&mut self.retained)
    }
}
