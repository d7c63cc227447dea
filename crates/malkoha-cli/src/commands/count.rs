//! `malkoha count`: how often lines are in a filter file.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::arguments::{self, InputArgs, NowArgs, PrintArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::filter;
use crate::input::{Block, Side, name};
use crate::output::{Page, Printer, Show};
use crate::pipeline::in_order;
use crate::progress::Progress;
use crate::records::{Added, KeyArgs, tell_difference};

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
    let (fpr, min) = (filter.facts().fpr, arguments.min);
    let Side { inputs, keys } = arguments.input.side(&arguments.keys)?;
    let progress = Progress::unless_terminal("Counting", inputs.total_bytes());
    let separator = inputs.separator();
    let show = Show { header: true, added: Some((keys.clone(), Added::Count)), ..Show::default() };
    let work = move |block: &Block, page: &mut Page| {
        keys.read(block.source(), |batch| {
            keys.refuse_members(Added::Count, batch.records)?;
            for (line, hash) in filter.found(&batch)? {
                let count = hash.map_or(0, |hash| filter.count_hash(hash));
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
    let printed = printer.finish()?;
    tell_difference(false, Some(&name(&arguments.filter)), fpr);
    Ok(Outcome::found_if(printed.selected > 0))
}
