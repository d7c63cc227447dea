//! `malkoha get`: the values of lines in a map.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use crate::arguments::{InputArgs, PrintArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::filter;
use crate::input::{Block, Side, name};
use crate::output::{Page, Printer, Show, field, with_fields};
use crate::pipeline::in_order;
use crate::progress::Progress;
use crate::records::{Added, KeyArgs, Keys, tell_difference};
use crate::time::Now;

/// Print the values of lines in a map
#[derive(Args, Debug)]
#[command(after_help = include_str!("get.txt"))]
pub(crate) struct Arguments {
    /// Filter file that was built with --values
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    /// Also print lines without values, with nothing after the tab
    #[arg(short, long)]
    all: bool,

    /// Print a JSON record for each line: 'key', or 'key_hex' if it is not UTF-8, and 'values'
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    print: PrintArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let filter = filter::open_verified(&arguments.filter, Now::File)?;
    let facts = filter.facts();
    if !facts.is_map {
        bail!(
            "{} holds a set, in which lines have no values: use 'malkoha check' or 'malkoha count', \
             or build a map with --values",
            name(&arguments.filter)
        );
    }
    let Arguments { all, json, .. } = *arguments;
    let Side { inputs, keys } = arguments.input.side(&arguments.keys)?;
    let progress = Progress::unless_terminal("Looking up", inputs.total_bytes());
    let separator = inputs.separator();
    let added = Some((keys.clone(), Added::Values));
    let show = Show { header: !json, added, ..Show::default() };
    let work = move |block: &Block, page: &mut Page| {
        keys.read(block.source(), |batch| {
            if !json {
                keys.refuse_members(Added::Values, batch.records)?;
            }
            for (line, hash) in filter.found(&batch)? {
                let values = hash.map_or_else(Vec::new, |hash| filter.candidates(hash));
                page.selected += u64::from(!values.is_empty());
                if values.is_empty() && !all {
                    continue;
                }
                let values =
                    values.into_iter().flat_map(|(value, copies)| (0..copies).map(move |_| value));
                add_values(&mut page.text, line, values, if json { None } else { Some(&keys) })?;
                page.text.push(separator);
            }
            Ok(())
        })
    };
    let printer = Printer::new(separator, &arguments.print)?.showing(show, &inputs);
    let printer = in_order(&inputs, &progress, arguments.threads.threads(), work, printer)?;
    let printed = printer.finish()?;
    tell_difference(false, Some(&name(&arguments.filter)), facts.fpr);
    Ok(Outcome::found_if(printed.selected > 0))
}

/// Adds a line and its values, without a terminator: in its form, or as a JSON record.
fn add_values(
    text: &mut Vec<u8>,
    line: &[u8],
    values: impl Iterator<Item = u64>,
    keys: Option<&Keys>,
) -> io::Result<()> {
    let Some(keys) = keys else {
        let record = json!({ "values": values.collect::<Vec<_>>() });
        return write!(text, "{}", with_fields(record, [field("key", line, false)]));
    };
    let values = values.map(|value| value.to_string()).collect::<Vec<_>>().join(",");
    if !keys.push_with(Added::Values, Some(&values), line, text) {
        text.extend_from_slice(line);
        write!(text, "\t{values}")?;
    }
    Ok(())
}
