//! `malkoha trace`: how keys move in a small table.

mod moves;
mod picture;

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::arguments::InputArgs;
use crate::failure::Outcome;
use crate::input::Block;
use crate::output::print_record;
use crate::progress::Progress;
use crate::records::split;
use moves::{Shape, Step, Table};

/// The most lines: nobody would read a longer text or look at a larger picture.
const MOST_LINES: usize = 512;

const AFTER_HELP: &str = "\
Inserts each line into a table of the library, and compares the table before
and after. If both buckets of a line are full, it makes room by the shortest
chain of moves. It takes at most 512 lines. Give fewer --slots than lines to
see refusals.

Example:
  seq 40 | malkoha trace --slots 44 --bucket-size 2 --svg moves.svg";

/// Show how keys move in a small table, as text and as a picture
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArgs,

    /// Largest number of slots [default: as many as make the lines fill 95 % of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    slots: Option<u64>,

    /// Slots per bucket: 1, 2, 4 or 8
    #[arg(long, value_name = "SLOTS", default_value_t = 4)]
    bucket_size: u32,

    /// Bits per fingerprint
    #[arg(long, value_name = "BITS", default_value_t = 16)]
    fingerprint_bits: u32,

    /// Write a picture: one row per insert, one column per bucket
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let lines = lines(arguments)?;
    let slots = arguments.slots.unwrap_or((u64::try_from(lines.len())? * 20).div_ceil(19).max(1));
    let &Arguments { bucket_size, fingerprint_bits, .. } = arguments;
    let mut table = Table::new(Shape { slots, bucket_size, fingerprint_bits })?;
    let steps: Result<Vec<Step>> =
        lines.iter().enumerate().map(|(number, line)| table.insert(number, line)).collect();
    let steps = steps?;
    let shown: Vec<String> =
        lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    if let Some(path) = &arguments.svg {
        let picture = picture::picture(&shown, &steps, bucket_size);
        fs::write(path, picture).with_context(|| format!("cannot write '{}'", path.display()))?;
    }
    print_record(&text(&shown, &steps, &table, bucket_size))?;
    Ok(Outcome::found_if(!steps.is_empty()))
}

/// All different lines, in order.
fn lines(arguments: &Arguments) -> Result<Vec<Vec<u8>>> {
    let inputs = arguments.input.inputs().all_needed();
    let (mut blocks, mut block) = (inputs.blocks(&Progress::hidden()), Block::default());
    let (mut seen, mut lines) = (HashSet::new(), Vec::new());
    while blocks.next(&mut block)? {
        split(block.source().text, inputs.separator(), |batch| {
            for &line in batch {
                if seen.insert(line.to_vec()) {
                    lines.push(line.to_vec());
                }
            }
            if lines.len() > MOST_LINES {
                bail!("more than {MOST_LINES} different lines: trace fewer, as with 'head'");
            }
            Ok(())
        })?;
    }
    Ok(lines)
}

fn text(lines: &[String], steps: &[Step], table: &Table, bucket_size: u32) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let mut put = |line: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{line}");
    };
    let (mut moves, mut refused) = (0, 0);
    for (line, step) in lines.iter().zip(steps) {
        let [first, second] = step.buckets;
        let Some(place) = step.place else {
            refused += 1;
            put(format_args!("{line} ({first} or {second}): refused, no chain of moves ends free"));
            continue;
        };
        let mut chain = String::new();
        for moved in &step.moves {
            moves += 1;
            let name = &lines[moved.line];
            let _ = write!(chain, "; {name} moves on, {} to {}", moved.from, moved.to);
        }
        put(format_args!("{line} ({first} or {second}): to {place}{chain}"));
    }
    put(format_args!(""));
    for bucket in 0..table.buckets() {
        let here = table.places.iter().filter(|place| *place.1 == bucket);
        let names: Vec<&str> = here.map(|(&line, _)| lines[line].as_str()).collect();
        put(format_args!("bucket {bucket}: {}", names.join(", ")));
    }
    let held = lines.len() - refused;
    let slots = table.buckets() * bucket_size;
    put(format_args!(""));
    let load = held as f64 / f64::from(slots.max(1)) * 100.0;
    let _ = write!(
        text,
        "{held} lines in {slots} slots ({load:.1} %), {moves} moves, {refused} refused"
    );
    text
}
