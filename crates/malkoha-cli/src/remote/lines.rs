//! Many lines at once: distributes them to their shards, and puts the replies in order again.

use anyhow::{Context, Result, bail};
use redis::{Cmd, Value, cmd, from_redis_value};

use super::exchange::{exchange, exchange_all};
use super::request::{Outcome, Policy, Request, gone};
use super::shards::Shards;

/// Lines a command: the server is kept for some hundred microseconds.
const LINES: usize = 1024;

/// The result of TYPE for the module's filters.
const DATA_TYPE: &str = "malkohacf";

/// The outcome of a batch of changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Lines that were added, or found and removed.
    pub(crate) done: u64,
    /// Lines of requests that were sent twice because an answer was lost: in once or twice.
    pub(crate) resent: u64,
    /// Lines of requests whose answer was lost: removed or not.
    pub(crate) unknown: u64,
    /// Lines of acknowledged requests that are not known to be on enough replicas.
    pub(crate) unconfirmed: u64,
    /// Lines of requests that were not carried out.
    pub(crate) missing: u64,
    /// The obstacle that lasted so long that no more lines should be sent.
    pub(crate) problem: Option<String>,
}

impl Shards {
    /// Adds a copy of each line, or of those alone that are not said to be in. `changes` are those
    /// before; returns them with these.
    pub(crate) fn add(
        &mut self,
        lines: &[&[u8]],
        unique: bool,
        changes: Changes,
    ) -> Result<Changes> {
        let command = if unique { "CF.INSERTNX" } else { "CF.INSERT" };
        // A lost key must not be created again without its content.
        let start = |key: &str| cmd(command).arg(key).arg("NOCREATE").arg("ITEMS").clone();
        self.change(lines, self.policy, start, changes)
    }

    /// Removes a copy of each line, as [`add`](Self::add) adds it.
    pub(crate) fn remove(&mut self, lines: &[&[u8]], changes: Changes) -> Result<Changes> {
        // A second removal may have removed another line's fingerprint.
        let policy = Policy { resend: false, ..self.policy };
        self.change(lines, policy, |key| cmd("CF.MDEL").arg(key).clone(), changes)
    }

    fn change(
        &mut self,
        lines: &[&[u8]],
        policy: Policy,
        start: impl Fn(&str) -> Cmd,
        mut changes: Changes,
    ) -> Result<Changes> {
        let (requests, parts) = self.requests(lines, start);
        let (answers, problem) = exchange(&mut self.cluster, &requests, policy);
        changes.problem = problem;
        for (answer, part) in answers.into_iter().zip(&parts) {
            let lines = part.lines.len() as u64;
            match answer.outcome {
                Outcome::Unknown => changes.unknown += lines,
                Outcome::Missing => changes.missing += lines,
                outcome => {
                    let key = &self.keys[part.shard];
                    let done = numbers(outcome.replies(key)?, part.lines.len())?;
                    let refused = done.iter().filter(|&&done| done < 0).count();
                    if refused > 0 {
                        bail!("{key} refused {refused} lines: it is as large as it may or can be");
                    }
                    changes.done += done.iter().filter(|&&done| done > 0).count() as u64;
                    changes.resent += if answer.resent { lines } else { 0 };
                    changes.unconfirmed += if answer.unconfirmed { lines } else { 0 };
                }
            }
        }
        Ok(changes)
    }

    /// Whether each line is in; an error if a shard does not say.
    pub(crate) fn contains(&mut self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let (mut requests, parts) = self.requests(lines, |key| cmd("CF.MEXISTS").arg(key).clone());
        for (request, part) in requests.iter_mut().zip(&parts) {
            // A key that is lost, or of another type, would answer that nothing is in.
            request.commands.push(cmd("TYPE").arg(&self.keys[part.shard]).get_packed_command());
            request.writes = false;
        }
        let answers = exchange_all(&mut self.cluster, &requests, self.policy)?;
        for (answer, part) in answers.into_iter().zip(&parts) {
            let key = &self.keys[part.shard];
            let mut replies = answer.outcome.replies(key)?;
            let kind: String = from_redis_value(replies.pop().context("a reply is missing")?)?;
            match kind.as_str() {
                DATA_TYPE => {}
                "none" => bail!(gone(key)),
                _ => bail!("{key} is a {kind} and no filter: load the filter again"),
            }
            let numbers = numbers(replies, part.lines.len())?;
            for (&line, number) in part.lines.iter().zip(numbers) {
                found[line] = number == 1;
            }
        }
        Ok(())
    }

    /// Builds requests from lines. Each has the lines of one shard.
    fn requests(&self, lines: &[&[u8]], start: impl Fn(&str) -> Cmd) -> (Vec<Request>, Vec<Part>) {
        let mut of_shards = vec![Vec::new(); self.keys.len()];
        for (number, line) in lines.iter().enumerate() {
            of_shards[self.shard(line)].push(number);
        }
        let (mut requests, mut parts) = (Vec::new(), Vec::new());
        for (shard, numbers) in of_shards.into_iter().enumerate() {
            for numbers in numbers.chunks(LINES) {
                let mut command = start(&self.keys[shard]);
                for &number in numbers {
                    command.arg(lines[number]);
                }
                let commands = vec![command.get_packed_command()];
                requests.push(Request { slot: self.slots[shard], commands, writes: true });
                parts.push(Part { shard, lines: numbers.to_vec() });
            }
        }
        (requests, parts)
    }
}

/// Lines of a batch that are in one request.
struct Part {
    shard: usize,
    lines: Vec<usize>,
}

/// The only reply, with this many numbers.
fn numbers(mut replies: Vec<Value>, len: usize) -> Result<Vec<i64>> {
    let reply = replies.pop().context("a reply is missing")?;
    let numbers: Vec<i64> = from_redis_value(reply)?;
    if numbers.len() != len {
        bail!("the server gave {} answers to {len} questions", numbers.len());
    }
    Ok(numbers)
}
