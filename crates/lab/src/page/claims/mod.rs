//! The paper's claims, and whether they hold here. Every verdict is computed from the results,
//! and says at which size and on which machine.

mod sizes;
mod speeds;

use super::data::{Data, Machine};
use super::table::Table;
use crate::paper::Experiment as E;
use crate::report::number;

/// MB up to which a table is taken to lie in a cache.
pub(super) const CACHED: f64 = 24.0;

/// A statement of the paper.
#[derive(Clone)]
struct Claim {
    says: &'static str,
    found: String,
    /// `None` if not the claim's subject was measured, but only something similar.
    holds: Option<bool>,
    /// What it was measured on: an experiment, and how large its tables were.
    at: (E, String),
}

/// Why not all of it holds.
pub(super) fn reasons(data: &Data) -> String {
    let size = data.megabytes();
    let mut text = String::new();
    if size < CACHED {
        text += &format!(
            "Tables of {size:.0} MB lie in a cache. There the nine reads of a Bloom filter are \
             cheap, and what an absent key costs it is the branch that stops at the first zero \
             and cannot be foreseen. "
        );
    }
    text + "A verdict on a speed is one on this machine and at this load: \"busy\" means that more \
            wanted to run than there are processors. Our quotient filter looks through 64 slots at \
            a time and moves whole words, so it is built faster than the paper's, and at 192 MB \
            its lookups of present keys wait for memory whatever its load. A processor of today \
            has the reads of several Bloom lookups on their way at once, where nothing depends on \
            them: so BF is built faster than CF, whose last inserts search, in memory too. \
            Removals of all four wait for memory alike."
}

/// The paper's statements, what was found, at which size and where, and whether they hold.
pub(super) fn table(data: &Data) -> Table {
    let claims = [sizes::loads(data), sizes::space(data), sizes::table3(data), speeds::all(data)];
    let head = ["The paper says", "Found here", "Holds", "Size", "Command and machine"];
    Table {
        caption: "The paper's statements and what came out".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: claims.into_iter().flatten().map(|claim| row(data, claim)).collect(),
        folded: false,
    }
}

fn row(data: &Data, claim: Claim) -> Vec<String> {
    let (experiment, size) = claim.at;
    let full = size.starts_with("192 MB");
    let buckets = size.strip_prefix("2^").and_then(|rest| rest.split_once(' '));
    let is_large = |(log, _): &(&str, &str)| {
        let name = format!("m = 2^{log}");
        experiment == E::Figure2 && data.large_figure2.rows.iter().any(|row| row.series == name)
    };
    let machine = match data.full(experiment).filter(|_| full) {
        Some(found) => &found.machine,
        None if buckets.as_ref().is_some_and(is_large) => &data.large_figure2.machine,
        None => data.machine_of(experiment),
    };
    let holds = claim.holds.map_or("not tried", |holds| if holds { "yes" } else { "no" });
    let scale = match (experiment, buckets) {
        (E::Figure2, Some((log, _))) => format!(" --buckets {log}"),
        _ if full => " --slots 27".to_owned(),
        _ => String::new(),
    };
    let how = format!("`paper {}{scale}`, {}", experiment.name(), place(machine));
    vec![claim.says.to_owned(), claim.found, holds.to_owned(), size, how]
}

/// A machine in a few words.
pub(super) fn place(machine: &Machine) -> String {
    let day = machine.get("date").split('T').next().unwrap_or_default();
    let busy = if machine.was_busy() { ", busy" } else { "" };
    let (cpu, cpus) = (machine.get("cpu"), machine.get("cpus"));
    let processors = if cpus == "1" { "processor" } else { "processors" };
    format!("{cpu}, {cpus} {processors}, {day}{busy}")
}

fn named((name, value): (&str, f64)) -> String {
    format!("{name} {}", number(Some(value)))
}
