//! `malkoha uniq`: the first occurrences of a stream's lines.

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use malkoha::GrowableCuckooFilter;
use serde_json::json;

use crate::cli::{self, InputArgs, PrintArgs, SeedArgs, ThreadArgs};
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::input::{Block, split};
use crate::output::{LineWriter, tell};
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;

const AFTER_HELP: &str = "\
Like awk '!seen[$0]++': the order is kept and output begins at once. It keeps fingerprints instead
of lines, 29 to 34 bits a distinct line at the default rate, whatever the lines' length. A new line
is taken for an old one, and lost, with a probability below RATE. No line is ever printed twice.

The memory grows with the distinct lines, in small steps. The rate holds up to --growth times
--capacity of them.

Examples:
  malkoha uniq access.txt > distinct.txt
  zcat logs/*.gz | malkoha uniq --stats | wc -l
  malkoha uniq --repeated ids.txt            lines that occurred before";

/// Print the first occurrence of each line, in order
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    input: InputArgs,

    /// Highest probability at which a new line is taken for an old one
    #[arg(long, value_name = "RATE", default_value = "1e-6")]
    fpr: f64,

    /// Number of distinct lines to begin with; it grows beyond it
    #[arg(long, value_name = "LINES", default_value = "1_000_000", value_parser = cli::count)]
    capacity: u64,

    /// How many times --capacity it can grow to before the rate rises, by as much each doubling
    #[arg(long, value_name = "FACTOR", default_value_t = 1024.0)]
    growth: f64,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    print: PrintArgs,

    /// Print the other lines, which occurred before
    #[arg(long)]
    repeated: bool,

    /// At the end, tell lines, distinct lines and memory on stderr
    #[arg(long)]
    stats: bool,

    /// The statistics as a JSON record on stderr
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let inputs = arguments.input.inputs();
    let seen = GrowableCuckooFilter::builder()
        .capacity(arguments.capacity)
        .fpr(arguments.fpr)
        .growth(arguments.growth)
        .with_hasher(arguments.seed.hasher())
        .build()?;
    let (hasher, separator) = (seen.hasher(), inputs.separator());
    let progress = Progress::beside_lines("Reading", inputs.total_bytes(), arguments.input.quiet);
    let out = LineWriter::stdout(separator, arguments.print.line_buffered);
    let uniq =
        Uniq { seen, new: Vec::new(), repeated: arguments.repeated, out, lines: 0, printed: 0 };
    let work = move |block: &Block, hashed: &mut Hashed| {
        hashed.text.extend_from_slice(block.lines());
        split(block.lines(), separator, |batch| {
            hashed.hashes.extend(batch.iter().map(|line| hasher.hash_bytes(line)));
            hashed.lens.extend(batch.iter().map(|line| line.len()));
            Ok(())
        })
    };
    let threads = arguments.threads.threads();
    let Uniq { seen, out, lines, printed, .. } = in_order(&inputs, &progress, threads, work, uniq)?;
    out.finish().context(CANNOT_WRITE)?;
    drop(progress);
    arguments.report(lines, &seen);
    Ok(Outcome::found_if(printed > 0))
}

/// A block of lines, and what each of them hashes to.
#[derive(Default)]
struct Hashed {
    /// With terminators.
    text: Vec<u8>,
    /// Of the lines, without terminators.
    lens: Vec<usize>,
    hashes: Vec<u64>,
}

/// What knows which lines are new, in their order, and prints them.
struct Uniq {
    seen: GrowableCuckooFilter,
    /// Which lines of a block are new.
    new: Vec<bool>,
    repeated: bool,
    out: LineWriter,
    lines: u64,
    printed: u64,
}

impl Sink for Uniq {
    type Made = Hashed;

    fn take(&mut self, block: &mut Hashed) -> Result<()> {
        let Hashed { text, lens, hashes } = block;
        self.new.resize(hashes.len(), false);
        self.seen.insert_unique_hashes(hashes, &mut self.new).map_err(|refusal| refusal.error)?;
        let mut start = 0;
        for (len, &new) in lens.drain(..).zip(&self.new) {
            if new != self.repeated {
                self.printed += 1;
                self.out.write(&text[start..][..len]).context(CANNOT_WRITE)?;
            }
            start += len + 1;
        }
        self.lines += hashes.len() as u64;
        hashes.clear();
        text.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }
}

impl Arguments {
    fn report(&self, lines: u64, seen: &GrowableCuckooFilter) {
        let (distinct, bytes, fpr) = (seen.len(), seen.size_in_bytes(), seen.expected_fpr());
        if self.json {
            let record =
                json!({ "lines": lines, "distinct": distinct, "bytes": bytes, "fpr": fpr });
            tell(&record.to_string());
        } else if self.stats {
            tell(&format!(
                "{} lines, {} distinct, {} ({:.1} bits a distinct line), fpr {fpr:.2e}",
                HumanCount(lines),
                HumanCount(distinct),
                HumanBytes(bytes),
                seen.bits_per_key(),
            ));
        }
    }
}
