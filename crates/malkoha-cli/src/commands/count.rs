//! `malkoha count`: how often lines are in a filter file.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::arguments::{self, InputArgs, NowArgs, PrintArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::filter;
use crate::input::{Block, Side};
use crate::output::{Page, Printer, Show};
use crate::pipeline::in_order;
use crate::progress::Progress;
use crate::records::{Added, BATCH, KeyArgs};

/// Print how often lines are in a filter file
#[derive(Args, Debug)]
#[command(after_help = include_str!("count.txt"))]
pub(crate) struct Arguments {
    /// Filter file
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    /// Print only lines that are in the filter at least this often
    #[arg(long, value_name = "COPIES", default_value = "0", value_parser = arguments::count)]
    min: u64,

    #[command(flatten)]
    print: PrintArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    now: NowArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let filter = filter::open_verified(&arguments.filter, arguments.now.now)?;
    let (hasher, min) = (filter.hasher(), arguments.min);
    let Side { inputs, keys } = arguments.input.side(&arguments.keys)?;
    let progress = Progress::beside_lines("Counting", inputs.total_bytes());
    let separator = inputs.separator();
    let show = Show { header: true, added: Some((keys.clone(), Added::Count)), ..Show::default() };
    let work = move |block: &Block, page: &mut Page| {
        keys.read(block.source(), |batch| {
            let hashes: Vec<u64> = batch.keys.iter().map(|key| hasher.hash_bytes(key)).collect();
            keys.refuse_members(Added::Count, batch.records)?;
            let mut found = [false; BATCH];
            let found = &mut found[..batch.len()];
            // Looks up all at once, so that cache misses overlap, then counts only what is in.
            filter.contains_hashes(&hashes, found);
            batch.unfit.iter().for_each(|&i| found[i] = false);
            for ((line, &hash), &mut found) in batch.records.iter().zip(&hashes).zip(found) {
                let count = if found { filter.count_hash(hash) } else { 0 };
                if count >= min {
                    page.selected += 1;
                    let count = count.to_string();
                    if !keys.push_with(Added::Count, Some(&count), line, &mut page.text) {
                        write!(page.text, "{count}\t")?;
                        page.text.extend_from_slice(line);
                    }
                    page.text.push(separator);
                }
            }
            Ok(())
        })
    };
    let printer = Printer::new(separator, &arguments.print)?.showing(show, &inputs);
    let printer = in_order(&inputs, &progress, arguments.threads.threads(), work, printer)?;
    Ok(Outcome::found_if(printer.finish()?.selected > 0))
}
