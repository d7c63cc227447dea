//! A request to a server, how it is sent, and its outcome.

use std::time::Duration;

use anyhow::{Result, bail};
use redis::{RedisError, Value};

/// How requests are sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// How long to continue without progress.
    pub(crate) patience: Duration,
    /// Replicas that must have a write before it counts.
    pub(crate) replicas: u32,
    /// Whether to send a request again that may have been carried out.
    pub(crate) resend: bool,
}

/// Commands for one key.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) slot: u16,
    pub(super) commands: Vec<Vec<u8>>,
    pub(super) writes: bool,
}

/// The outcome of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The reply to each command.
    Done(Vec<Value>),
    /// The server's error.
    Refused(RedisError),
    /// It may have been carried out or not.
    Unknown,
    /// It could not be carried out within the policy's patience.
    Missing,
}

/// Outcomes, in the order of the requests.
#[derive(Debug)]
pub(super) struct Outcomes {
    pub(super) outcomes: Vec<Outcome>,
    /// Whether the request was sent again though it may have been carried out before.
    pub(super) resent: Vec<bool>,
    /// Whether the request was acknowledged, but not known to be on enough replicas.
    pub(super) unconfirmed: Vec<bool>,
    /// The obstacle that lasted so long that no more was tried.
    pub(super) problem: Option<String>,
}

impl Outcomes {
    /// An error if a request was not carried out.
    pub(super) fn complete(self) -> Result<Self> {
        let is_missing = |outcome: &Outcome| matches!(outcome, Outcome::Missing);
        match &self.problem {
            Some(problem) if self.outcomes.iter().any(is_missing) => bail!("{problem}"),
            _ => Ok(self),
        }
    }
}
