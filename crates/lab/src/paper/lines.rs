//! Cache lines that a lookup fetches, counted by Valgrind: `lab` runs itself under a model of a
//! cache that is much smaller than the table.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::structures::{self, Structure};
use crate::keys::{Keys, Present};
use crate::subject::{Access, Subject};

/// Slots of the table, 768 KB: 24 times the cache of the model, so a lookup finds its line
/// already in the cache in one of 24 cases.
const SLOTS: u64 = 1 << 19;
/// 32 KB in sets of 16 lines of 64 bytes. Tables for decoding, of 8 KB, should stay in it.
const CACHE: &str = "32768,16,64";
const QUERIES: u64 = 1 << 16;
/// Queries handed over at a time, so few that they stay in the cache until they are looked up.
const BATCH: usize = 16;

/// The run of this program that [`misses`] makes under Valgrind.
#[derive(Args, Clone, Debug)]
pub struct LookupsArgs {
    /// The structure's name in table 3
    pub structure: String,
    /// Percentage of present keys
    pub present: u8,
}

/// Fills a structure and looks keys up in it.
///
/// # Errors
///
/// If there is no structure of this name or it cannot be built.
pub fn run(args: &LookupsArgs) -> Result<()> {
    let mut all = structures::all().into_iter();
    let found = all.find(|structure| structure.name == args.structure);
    let structure = found.with_context(|| format!("no structure {:?}", args.structure))?;
    let (subject, members) = filled(&structure)?;
    let (mut batch, mut answers) = ([0; BATCH], [false; BATCH]);
    for position in (0..QUERIES).step_by(BATCH) {
        Keys::new(1).queries(Present(args.present), members, position, &mut batch);
        std::hint::black_box(ask(&*subject, &batch, &mut answers));
    }
    Ok(())
}

fn filled(structure: &Structure) -> Result<(Box<dyn Subject>, u64)> {
    let mut subject = (structure.make)(SLOTS)?;
    let (limit, _) = structure.fill.limit(SLOTS);
    let (mut members, mut refused) = (0, Vec::new());
    while members < limit && refused.is_empty() {
        subject.insert_all(Access::Single, &[Keys::new(1).key(members)], &mut refused);
        members += u64::from(refused.is_empty());
    }
    Ok((subject, members))
}

/// The only function that Valgrind counts; it is found by its name.
#[inline(never)]
fn ask(subject: &dyn Subject, keys: &[u64], answers: &mut [bool]) -> u64 {
    subject.find_all(Access::Single, keys, answers)
}

/// Cache lines that a lookup of a present or an absent key fetches; `lab` is this program's file.
/// `None` where Valgrind is not installed.
///
/// # Errors
///
/// If Valgrind fails.
pub fn misses(lab: &Path, structure: &str, present: Present) -> Result<Option<f64>> {
    let folder = std::env::temp_dir();
    let counts = folder.join(format!("lab-lines-{}-{}", std::process::id(), present.0));
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--cache-sim=yes", "--toggle-collect=*lines*ask*"])
        .arg(format!("--D1={CACHE}"))
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .args([lab.as_os_str(), "lookups".as_ref(), structure.as_ref()])
        .arg(present.0.to_string())
        .stderr(Stdio::null())
        .status();
    let status = match status {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        status => status.context("running valgrind")?,
    };
    ensure!(status.success(), "valgrind ended with {status} for {structure}");
    let text = fs::read_to_string(&counts).context("reading the counts of valgrind")?;
    fs::remove_file(&counts).context("removing the counts of valgrind")?;
    let total = total(&text).context("valgrind did not say how many reads missed its cache")?;
    Ok(Some(total as f64 / QUERIES as f64))
}

/// Reads that missed the first cache (event `D1mr`), of the whole run.
fn total(counts: &str) -> Option<u64> {
    let line = |start| counts.lines().find_map(|line| line.strip_prefix(start));
    let at = line("events: ")?.split_whitespace().position(|event| event == "D1mr")?;
    line("totals: ")?.split_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_misses_are_found_among_the_events() {
        let text = "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw\nfn=a\n1 2\ntotals: 9 8 7 6 55 4\n";
        assert_eq!(total(text), Some(55));
        assert_eq!(total("events: Ir\ntotals: 9\n"), None);
    }
}
