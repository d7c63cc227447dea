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

/// Options that make writes safer.
#[derive(Args, Clone, Copy, Debug)]
struct Writing {
    /// Replicas that must have a batch before it counts as written; with 1, a failover loses
    /// nothing
    #[arg(long, value_name = "N", default_value = "0")]
    replicas: u32,
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

/// Lines that are sent together, which share the cost of a network's delay.
const LINES: usize = 1 << 16;
const BYTES: usize = 8 << 20;

/// Passes all lines on in large batches, or in smaller ones as they arrive if somebody waits for
/// answers.
fn for_each_batch(
    input: &InputArgs,
    prompt: bool,
    progress: &Progress,
    mut each: impl FnMut(&[&[u8]]) -> Result<()>,
) -> Result<()> {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut hand_over = |bytes: &mut Vec<u8>, ends: &mut Vec<usize>| {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let lines: Vec<&[u8]> =
            starts.zip(ends.iter()).map(|(start, &end)| &bytes[start..end]).collect();
        each(&lines)?;
        bytes.clear();
        ends.clear();
        Ok(())
    };
    let (mut blocks, mut block) = (input.inputs().all_needed().blocks(progress), Block::default());
    while blocks.next(&mut block)? {
        split(block.source().text, input.separator(), |batch| {
            for line in batch {
                bytes.extend_from_slice(line);
                ends.push(bytes.len());
            }
            let is_enough = prompt || ends.len() >= LINES || bytes.len() >= BYTES;
            if is_enough { hand_over(&mut bytes, &mut ends) } else { Ok(()) }
        })?;
    }
    if ends.is_empty() { Ok(()) } else { hand_over(&mut bytes, &mut ends) }
}
