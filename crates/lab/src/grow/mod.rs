//! What growth costs: rates, space and time at every doubling, values, and what is left
//! when all keys are gone.

mod doublings;
mod endless;
mod soak;
mod speed;
mod values;

use anyhow::Result;
use malkoha::tables::Lookup;
use malkoha::{Builder, Filter};

pub use endless::report as report_endless;
pub use soak::{KINDS as SOAK_KINDS, report as report_soak};

use crate::args::GrowArgs;
use crate::keys::{Keys, Present};
use crate::machine::Machine;
use crate::report::Report;

/// Keys handed over at a time.
const BATCH: usize = 32_768;

/// Runs all measurements and prints them.
///
/// # Errors
///
/// If a filter cannot be built, or gave a wrong answer.
pub fn report(args: &GrowArgs) -> Result<()> {
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    // First, while the process holds nothing else: its peak is the filter's.
    let grown = doublings::report(args)?;
    speed::report(args, &grown)?;
    doublings::remove_all(args, grown)?;
    values::report(args)
}

/// The builder with the growth that is to be named, if any.
fn with_growth<F>(builder: Builder<F>, growth: Option<f64>) -> Builder<F> {
    match growth {
        Some(factor) => builder.growth(factor),
        None => builder,
    }
}

/// How many of `sample` absent keys are found.
fn absent_found<T: Lookup>(filter: &Filter<T>, keys: Keys, members: u64, sample: u64) -> usize {
    let (mut batch, mut hits) = (vec![0; BATCH], 0);
    for first in (0..sample).step_by(BATCH) {
        let len = usize::try_from(sample - first).map_or(BATCH, |left| left.min(BATCH));
        keys.queries(Present(0), members, first, &mut batch[..len]);
        hits += filter.contains_many(&batch[..len]).into_iter().filter(|&found| found).count();
    }
    hits
}
