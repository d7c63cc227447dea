//! A request to a server, how it is sent, and its outcome.

use std::time::Duration;

use anyhow::{Context, Result, bail};
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
#[derive(Debug, Default)]
pub(super) enum Outcome {
    /// It was not carried out yet, or could not be within the policy's patience.
    #[default]
    Missing,
    /// The reply to each command.
    Done(Vec<Value>),
    /// The server's error.
    Refused(RedisError),
    /// It may have been carried out or not.
    Unknown,
}

impl Outcome {
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    /// The replies, or what is wrong with this key.
    pub(super) fn replies(self, key: &str) -> Result<Vec<Value>> {
        match self {
            Self::Done(replies) => Ok(replies),
            Self::Refused(error) if is_not_found(&error) => bail!(gone(key)),
            Self::Refused(error) => Err(explained(error)).context(key.to_owned()),
            Self::Unknown | Self::Missing => bail!("{key}: the connection was lost"),
        }
    }
}

/// The outcome of a request.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    /// Whether it was sent again though it may have been carried out before.
    pub(super) resent: bool,
    /// Whether it was acknowledged, but is not known to be on enough replicas.
    pub(super) unconfirmed: bool,
}

/// The error of a shard's key that does not exist.
pub(super) fn gone(key: &str) -> String {
    format!("{key} is gone, so nobody can say what was in it: load the filter again")
}

/// The module's reply about a key that does not exist: `ERR not found`, or `Not found`.
fn is_not_found(error: &RedisError) -> bool {
    let is = |code, detail| error.code() == Some(code) && error.detail() == Some(detail);
    is("ERR", "not found") || is("Not", "found")
}

/// The error of a server, which may lack the module.
pub(super) fn explained(error: RedisError) -> anyhow::Error {
    let is_without_module = error.to_string().to_lowercase().contains("unknown command");
    let error = anyhow::Error::new(error);
    if is_without_module { error.context("the server has not loaded the module") } else { error }
}
