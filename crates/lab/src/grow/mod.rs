//! What growth costs: rates, space and time at every doubling, copies, values, and what is left when
//! all keys are gone.

mod copies;
mod doublings;
mod speed;
mod values;

use anyhow::Result;

use crate::args::GrowArgs;
use crate::machine::Machine;
use crate::report::Report;

/// Keys handed over at a time.
const BATCH: usize = 32_768;

/// Runs all and prints it.
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
    copies::report(args)?;
    values::report(args)
}
