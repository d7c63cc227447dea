//! Many lines at once: distributes them to their shards, and puts the replies in order again.

use anyhow::{Context, Result, bail};
use redis::{Cmd, Value, cmd, from_redis_value};

use super::exchange::exchange;
use super::request::{Outcome, Request};
use super::shards::{Shards, gone};

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
    /// Adds a copy of each line.
    pub(crate) fn add(&mut self, lines: &[&[u8]]) -> Result<Changes> {
        // A lost key must not be created again without its content.
        let start = |key: &str| cmd("CF.INSERT").arg(key).arg("NOCREATE").arg("ITEMS").clone();
        self.change(lines, start)
    }

    /// Adds the lines that are not said to be in.
    pub(crate) fn add_unique(&mut self, lines: &[&[u8]]) -> Result<Changes> {
        let start = |key: &str| cmd("CF.INSERTNX").arg(key).arg("NOCREATE").arg("ITEMS").clone();
        self.change(lines, start)
    }

    /// Removes a copy of each line.
    pub(crate) fn remove(&mut self, lines: &[&[u8]]) -> Result<Changes> {
        let policy = self.policy;
        // A second removal may have removed another line's fingerprint.
        self.policy.resend = false;
        let changes = self.change(lines, |key| cmd("CF.MDEL").arg(key).clone());
        self.policy = policy;
        changes
    }

    fn change(&mut self, lines: &[&[u8]], start: impl Fn(&str) -> Cmd) -> Result<Changes> {
        let (requests, parts) = self.requests(lines, start);
        let outcomes = exchange(&mut self.cluster, &requests, self.policy);
        let mut changes = Changes { problem: outcomes.problem, ..Changes::default() };
        let flags = outcomes.resent.into_iter().zip(outcomes.unconfirmed);
        for ((outcome, part), (resent, unconfirmed)) in
            outcomes.outcomes.into_iter().zip(&parts).zip(flags)
        {
            let lines = part.lines.len() as u64;
            match outcome {
                Outcome::Unknown => {
                    changes.unknown += lines;
                    continue;
                }
                Outcome::Missing => {
                    changes.missing += lines;
                    continue;
                }
                _ => {}
            }
            let done = answers(self.replies(part.shard, outcome)?, part.lines.len())?;
            let refused = done.iter().filter(|&&done| done < 0).count();
            if refused > 0 {
                let key = &self.keys[part.shard];
                bail!("{key} refused {refused} lines: it is as large as it may or can be");
            }
            changes.done += done.iter().filter(|&&done| done > 0).count() as u64;
            changes.resent += if resent { lines } else { 0 };
            changes.unconfirmed += if unconfirmed { lines } else { 0 };
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
        let outcomes = exchange(&mut self.cluster, &requests, self.policy).complete()?;
        for (outcome, part) in outcomes.outcomes.into_iter().zip(&parts) {
            let key = &self.keys[part.shard];
            let mut replies = self.replies(part.shard, outcome)?;
            let kind: String = from_redis_value(replies.pop().context("a reply is missing")?)?;
            match kind.as_str() {
                DATA_TYPE => {}
                "none" => bail!(gone(key)),
                _ => bail!("{key} is a {kind} and no filter: load the filter anew"),
            }
            let answers = answers(replies, part.lines.len())?;
            for (&line, answer) in part.lines.iter().zip(answers) {
                found[line] = answer == 1;
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
fn answers(mut replies: Vec<Value>, len: usize) -> Result<Vec<i64>> {
    let reply = replies.pop().context("a reply is missing")?;
    let answers: Vec<i64> = from_redis_value(reply)?;
    if answers.len() != len {
        bail!("the server gave {} answers to {len} questions", answers.len());
    }
    Ok(answers)
}
