//! `malkoha new`: the lines that are not in a filter file, which it then adds.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::HumanCount;
use malkoha::tables::{Ages, Fixed, Growing};
use malkoha::{FileKind, Filter, GrowableCuckooFilter, GrowableExpiringCuckooFilter};

use super::first::Printing;
use super::keeping::{KeepArgs, Saving};
use super::window::WindowArgs;
use crate::arguments::{InputArgs, PrintArgs, ThreadArgs};
use crate::failure::{Outcome, tell_summary};
use crate::filter::{FilterFile, Lines, Table, Task};
use crate::input::{Side, name};
use crate::output::{Held, LineWriter, Overwrite, replace};
use crate::progress::Progress;
use crate::records::{KeyArgs, tell_difference};
use crate::time::{self, Now};

/// Print the lines that are not in a filter file, and add them to it
#[derive(Args, Debug)]
#[command(after_help = include_str!("new.txt"))]
pub(crate) struct Arguments {
    /// Filter file to change or to create
    filter: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    window: WindowArgs,

    #[command(flatten)]
    keep: KeepArgs,

    #[command(flatten)]
    print: PrintArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

/// For filters that this command creates.
const FPR: f64 = 1e-6;
const CAPACITY: u64 = 1000;

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let (path, within) = (&arguments.filter, arguments.window.within);
    // A link to nothing counts as absent too.
    if !path.exists() {
        // Nobody makes it meanwhile.
        let _held = Held::of(path, arguments.keep.wait)?;
        match within {
            Some(within) => {
                let builder = GrowableExpiringCuckooFilter::builder().expire_after(within);
                let filter = builder.capacity(CAPACITY).fpr(FPR).random_seed().build()?;
                replace(path, Overwrite::Nothing, &|out| filter.write_to(out))?;
            }
            None => {
                let builder = GrowableCuckooFilter::builder().capacity(CAPACITY).fpr(FPR);
                let filter = builder.random_seed().build()?;
                replace(path, Overwrite::Nothing, &|out| filter.write_to(out))?;
            }
        }
    }
    let (file, held) = FilterFile::open_held(path, arguments.keep.wait)?;
    match file.kind {
        FileKind::ExpiringSet => arguments.print_aged::<Fixed>(&file, held),
        FileKind::GrowableExpiringSet => arguments.print_aged::<Growing>(&file, held),
        _ if within.is_some() => {
            bail!("lines of {} do not expire: name another FILTER for --within", name(path))
        }
        _ => file.run(Now::Clock, New { arguments, held }),
    }
}

/// Prints lines of a filter whose lines do not expire.
struct New<'a> {
    arguments: &'a Arguments,
    held: Held,
}

impl Task for New<'_> {
    fn run<T: Table, C: Lines>(self, filter: Filter<T, C>) -> Result<Outcome> {
        let Self { arguments, held } = self;
        let side = arguments.side()?;
        let printing = Printing::of(filter, arguments.out(&side)?, false);
        arguments.print(&side, held, printing)
    }
}

impl Arguments {
    fn side(&self) -> Result<Side> {
        let (path, side) = (&self.filter, self.input.side(&self.keys)?);
        if side.inputs.include(path) {
            bail!("{} is named as input too, and has no lines: leave it out there", name(path));
        }
        // One might be equal to one of an earlier run.
        side.keys.tally().into_iter().for_each(|tally| tally.tell_empty_from(1));
        Ok(side)
    }

    fn out(&self, side: &Side) -> Result<LineWriter> {
        LineWriter::stdout(side.separator(), self.print.line_buffered)
    }

    /// Prints lines of a filter whose lines expire.
    fn print_aged<T: Table + Ages>(&self, file: &FilterFile, held: Held) -> Result<Outcome> {
        let side = self.side()?;
        let filter = file.read_at::<T>(Now::File)?;
        let (path, ttl) = (name(&self.filter), filter.ttl());
        if let Some(within) = self.window.within.filter(|&within| within != ttl) {
            let (within, ttl) = (time::in_words(within), time::in_words(ttl));
            bail!(
                "lines of {path} expire after {ttl}, and not after {within}: name another FILTER"
            );
        }
        // Lines with a time need --within, which is the file's, so they have its unit.
        if self.window.is_by_arrival() && !time::can_be_clocks(filter.now()) {
            bail!("{path} has a time before 1973, not the clock's: only what made it adds to it");
        }
        self.print(&side, held, self.window.printing(filter, self.out(&side)?, false))
    }

    fn print<T: Table, C: Lines>(
        &self,
        side: &Side,
        held: Held,
        mut printing: Printing<T, C>,
    ) -> Result<Outcome> {
        let progress = Progress::unless_terminal("Reading", side.inputs.total_bytes());
        let saving = Saving::to(&self.filter, held);
        let state = saving.state();
        printing.saving = Some(saving);
        let field = self.window.field(&self.keys, side.separator());
        let printed = field.and_then(|field| {
            printing.run(side, field, Some(&self.keep), self.threads.threads(), &progress)
        });
        let Printing { filter, lines, added, printed, .. } =
            printed.with_context(|| format!("{} is {}", name(&self.filter), state()))?;
        drop(progress);
        tell_difference(added < lines, Some(&name(&self.filter)), filter.expected_fpr());
        tell_summary(&format!(
            "{}: {} of {} lines were new, holds {}",
            self.filter.display(),
            HumanCount(added),
            HumanCount(lines),
            HumanCount(filter.len()),
        ));
        Ok(Outcome::found_if(printed > 0))
    }
}
