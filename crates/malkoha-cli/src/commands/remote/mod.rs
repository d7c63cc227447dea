//! `malkoha remote`: a filter on servers that have the module, spread over many keys.

mod check;
mod edit;
mod info;

use std::env;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand, value_parser};

use crate::arguments::InputArgs;
use crate::failure::Outcome;
use crate::input::Block;
use crate::progress::Progress;
use crate::records::split;
use crate::remote::{Cluster, Policy, Shards};

/// Keep a filter on servers with the module, or in a cluster
#[derive(Args, Debug)]
#[command(after_help = include_str!("help.txt"))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Load(edit::Load),
    Check(check::Arguments),
    Add(edit::Add),
    Remove(edit::Remove),
    Info(info::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    match &arguments.command {
        Command::Load(arguments) => arguments.run(),
        Command::Check(arguments) => arguments.run(),
        Command::Add(arguments) => arguments.run(),
        Command::Remove(arguments) => arguments.run(),
        Command::Info(arguments) => arguments.run(),
    }
}

/// The filter that a command is about.
#[derive(Args, Debug)]
struct Place {
    /// A server, redis://[USER:PASSWORD@]HOST:PORT, or rediss:// for TLS; any servers of a cluster
    /// [default: those in MALKOHA_URL]
    #[arg(long = "url", value_name = "URL")]
    urls: Vec<String>,

    /// Name of the filter
    #[arg(long, value_name = "NAME")]
    key: String,

    /// Seconds to keep trying without progress
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    #[arg(value_parser = value_parser!(u64).range(1..=86_400))]
    timeout: u64,
}

impl Place {
    fn cluster(&self) -> Result<Cluster> {
        let mut urls = self.urls.clone();
        if urls.is_empty() {
            let listed = env::var("MALKOHA_URL").unwrap_or_default();
            urls.extend(listed.split_whitespace().map(str::to_owned));
        }
        // A server that cannot be reached must leave time to ask the others.
        Cluster::connect(&urls, Duration::from_secs(self.timeout.min(5)))
    }

    fn policy(&self, replicas: u32) -> Policy {
        Policy { patience: Duration::from_secs(self.timeout), replicas, resend: true }
    }

    fn open(&self, shards: Option<u32>, replicas: u32) -> Result<Shards> {
        Shards::open(self.cluster()?, &self.key, shards, self.policy(replicas))
    }
}

/// Bytes of lines that are sent together, which share the cost of a network's delay.
const BYTES: usize = 1 << 20;

/// Passes all lines on in large batches, or in smaller ones as they arrive if somebody waits for
/// answers.
fn for_each_batch(
    input: &InputArgs,
    prompt: bool,
    progress: &Progress,
    mut each: impl FnMut(&[&[u8]]) -> Result<()>,
) -> Result<()> {
    let (mut blocks, mut block) = (input.inputs().all_needed().blocks(progress), Block::default());
    let mut text = Vec::new();
    loop {
        let is_end = !blocks.next(&mut block)?;
        if !is_end {
            text.extend_from_slice(block.source().text);
            // The last line of a file may lack its terminator.
            if text.last().is_some_and(|last| *last != input.separator()) {
                text.push(input.separator());
            }
        }
        if !text.is_empty() && (is_end || prompt || text.len() >= BYTES) {
            let mut lines = Vec::new();
            split(&text, input.separator(), |batch| {
                lines.extend_from_slice(batch);
                Ok(())
            })?;
            each(&lines)?;
            text.clear();
        }
        if is_end {
            return Ok(());
        }
    }
}
