//! One filter in many keys: which line belongs to which, and their combined answers.
//!
//! Shard i of a filter NAME is the key `NAME:i`; the key `NAME` tells how many there are. A line's
//! shard is its XXH3-64 under the seed `SHARD_SEED`, the high 32 bits of it multiplied down to
//! their number: a hash of its own, because the filters use all bits of theirs.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use malkoha::KeyHasher;
use redis::{Cmd, RedisError, Value, cmd, from_redis_value};
use serde::Serialize;

use super::cluster::Cluster;
use super::exchange::exchange_all;
use super::request::{Outcome, Policy, Request, explained};

const SHARD_SEED: u64 = 0x7368_6172_6473;
/// The properties of a new filter, for all shards together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) shards: u32,
    pub(crate) capacity: u64,
    /// The module's own settings are used for `None`.
    pub(crate) fpr: Option<f64>,
}

/// A filter that is spread over keys.
pub(crate) struct Shards {
    pub(super) cluster: Cluster,
    pub(super) policy: Policy,
    pub(super) keys: Vec<String>,
    /// Of the keys.
    pub(super) slots: Vec<u16>,
}

/// The content of all shards together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Sums {
    pub(crate) shards: usize,
    pub(crate) keys: u64,
    pub(crate) capacity: u64,
    pub(crate) bytes: u64,
    pub(crate) segments: u64,
    /// The mean, as a line is in one shard.
    pub(crate) fpr: f64,
}

impl Shards {
    /// The filter of this name; an error if there is none, or another number of shards than
    /// expected.
    pub(crate) fn open(
        mut cluster: Cluster,
        name: &str,
        expected: Option<u32>,
        policy: Policy,
    ) -> Result<Self> {
        let Some(stored) = stored(&mut cluster, name, policy)? else {
            bail!("there is no filter '{name}': make it with 'malkoha remote load'");
        };
        let Some(shards) = shards_of(&stored) else {
            bail!("the key '{name}' is something else than a filter of this command");
        };
        if let Some(expected) = expected.filter(|&expected| expected != shards) {
            bail!("filter '{name}' has {shards} shards, not {expected}");
        }
        Self::new(cluster, name, shards, policy)
    }

    /// Makes an empty filter; an error if there is one of this name.
    pub(crate) fn create(
        cluster: Cluster,
        name: &str,
        shape: Shape,
        policy: Policy,
    ) -> Result<Self> {
        let mut filter = Self::new(cluster, name, shape.shards, policy)?;
        let cluster = &mut filter.cluster;
        let text = format!("malkoha shards {}", shape.shards);
        let set = cmd("SET").arg(name).arg(&text).arg("NX").clone();
        let (set, resent) = ask(cluster, name, &set, true, policy)?;
        // If it is sent again, it finds what it set itself.
        let is_ours = set != Value::Nil
            || (resent && stored(cluster, name, policy)?.as_deref() == Some(text.as_bytes()));
        if !is_ours {
            bail!("'{name}' is there already: use 'malkoha remote add', or another --key");
        }
        filter.reserve(name, shape).with_context(|| format!("'{name}' cannot be made"))?;
        Ok(filter)
    }

    /// Makes the shards. If one is refused, none stays, nor the name.
    fn reserve(&mut self, name: &str, shape: Shape) -> Result<()> {
        let capacity = shape.capacity.div_ceil(shape.shards.into()).max(4);
        let requests = self.for_all_shards(true, |key| {
            let mut command = cmd("CF.RESERVE");
            command.arg(key).arg(capacity);
            if let Some(fpr) = shape.fpr {
                command.arg("ERROR").arg(fpr);
            }
            command
        });
        let half_made = || {
            let last = shape.shards - 1;
            format!("delete the keys {name} and {name}:0 to {name}:{last} before it is tried again")
        };
        let answers =
            exchange_all(&mut self.cluster, &requests, self.policy).with_context(half_made)?;
        let (mut made, mut problem) = (vec![name], None);
        for (answer, key) in answers.into_iter().zip(&self.keys) {
            // It is ours; the reply was lost.
            let is_ours =
                |error: &RedisError| answer.resent && error.to_string().contains("exists");
            match answer.outcome {
                Outcome::Refused(error) if !is_ours(&error) => {
                    problem = problem.or(Some((key, error)));
                }
                Outcome::Done(_) => made.push(key),
                _ => {}
            }
        }
        let Some((key, error)) = problem else { return Ok(()) };
        for key in made {
            ask(&mut self.cluster, key, cmd("DEL").arg(key), true, self.policy)
                .with_context(half_made)?;
        }
        Err(explained(error)).context(key.clone())
    }

    fn new(mut cluster: Cluster, name: &str, shards: u32, policy: Policy) -> Result<Self> {
        let keys: Vec<String> = (0..shards).map(|shard| format!("{name}:{shard}")).collect();
        let slots = cluster.slots_of(&keys).context("cannot learn the slots of the shards")?;
        Ok(Self { cluster, policy, keys, slots })
    }

    /// The results of `CF.INFO` for all shards.
    pub(crate) fn sums(&mut self) -> Result<Sums> {
        let requests = self.for_all_shards(false, |key| cmd("CF.INFO").arg(key).clone());
        let answers = exchange_all(&mut self.cluster, &requests, self.policy)?;
        let mut sums = Sums { shards: self.keys.len(), ..Sums::default() };
        for (answer, key) in answers.into_iter().zip(&self.keys) {
            let reply = answer.outcome.replies(key)?.pop().context("a reply is missing")?;
            let fields: HashMap<String, Value> = from_redis_value(reply)?;
            let count = |name: &str| -> Result<u64> {
                let field = fields.get(name).with_context(|| format!("CF.INFO lacks {name}"))?;
                Ok(from_redis_value(field.clone())?)
            };
            sums.keys += count("Number of items inserted")?;
            sums.capacity += count("Capacity")?;
            sums.bytes += count("Size")?;
            sums.segments += count("Segments")?;
            let fpr = fields.get("Error rate expected").context("CF.INFO lacks the error rate")?;
            let fpr: f64 = from_redis_value(fpr.clone())?;
            #[expect(clippy::cast_precision_loss, reason = "shards are few")]
            let shards = self.keys.len() as f64;
            sums.fpr += fpr / shards;
        }
        Ok(sums)
    }

    fn for_all_shards(&self, writes: bool, command: impl Fn(&str) -> Cmd) -> Vec<Request> {
        let keys = self.keys.iter().zip(&self.slots);
        let request = |(key, &slot): (&String, &u16)| {
            let commands = vec![command(key).get_packed_command()];
            Request { slot, commands, writes }
        };
        keys.map(request).collect()
    }

    /// Where a line belongs.
    pub(super) fn shard(&self, line: &[u8]) -> usize {
        let hash = KeyHasher::new(SHARD_SEED).hash_bytes(line);
        let shard = ((hash >> 32) * self.keys.len() as u64) >> 32;
        usize::try_from(shard).expect("a shard's number")
    }
}

/// The content of the key with a filter's name.
fn stored(cluster: &mut Cluster, name: &str, policy: Policy) -> Result<Option<Vec<u8>>> {
    let (stored, _) = ask(cluster, name, cmd("GET").arg(name), false, policy)?;
    Ok(from_redis_value(stored)?)
}

/// One command about one key; the reply, and whether it was sent again though it may have been
/// carried out before.
fn ask(
    cluster: &mut Cluster,
    key: &str,
    command: &Cmd,
    writes: bool,
    policy: Policy,
) -> Result<(Value, bool)> {
    let slot = cluster.slots_of(&[key.to_owned()])?[0];
    let commands = vec![command.get_packed_command()];
    let requests = [Request { slot, commands, writes }];
    let answer = exchange_all(cluster, &requests, policy)?.pop().unwrap_or_default();
    let reply = answer.outcome.replies(&format!("key '{key}'"))?.pop();
    Ok((reply.context("a reply is missing")?, answer.resent))
}

/// The number of shards that the key of a filter's name tells.
fn shards_of(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?.strip_prefix("malkoha shards ")?;
    text.parse().ok().filter(|shards| (1..=16384).contains(shards))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_shards_is_told_and_read() {
        assert_eq!(shards_of(b"malkoha shards 16"), Some(16));
        for text in ["malkoha shards 0", "malkoha shards 16385", "malkoha shards", "16", "\u{e9}"] {
            assert_eq!(shards_of(text.as_bytes()), None, "{text}");
        }
    }
}
