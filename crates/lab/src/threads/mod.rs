//! Many threads on one filter: what each mix of operations gives by number of threads.

mod mix;
mod ours;

pub use mix::{Mix, Way};
pub use ours::{growing, locks, sharded};

use anyhow::{Context, Result, bail, ensure};

use crate::args::ThreadsArgs;
use crate::machine::Machine;
use crate::measure::{alternating, median};
use crate::report::{Grid, Report, number};
use crate::results::Row;

/// A filter that threads share.
pub trait Shared: Sync {
    /// Inserts a key; `false` if it was refused.
    fn insert(&self, key: u64) -> bool;
    /// Looks a key up.
    fn contains(&self, key: u64) -> bool;

    /// Inserts keys; returns how many were refused.
    fn insert_many(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| !self.insert(key)).count()
    }

    /// Looks keys up; returns how many were found.
    fn contains_many(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(key)).count()
    }

    /// Whether it has batches of its own.
    fn has_batches(&self) -> bool {
        false
    }

    /// One thread's part of the work: inserts, with `lookups / inserts` lookups between them.
    /// Returns (inserts refused, lookups that found something).
    fn work(&self, inserts: &[u64], lookups: &[u64], way: Way) -> (usize, usize) {
        rounds(inserts, lookups, way, |some, others| {
            if way == Way::Single {
                let refused = some.iter().filter(|&&key| !self.insert(key)).count();
                (refused, others.iter().filter(|&&key| self.contains(key)).count())
            } else {
                (self.insert_many(some), self.contains_many(others))
            }
        })
    }
}

/// Hands out inserts and lookups in even parts, as they are mixed; returns the sums of both
/// numbers.
fn rounds(
    inserts: &[u64],
    lookups: &[u64],
    way: Way,
    mut round: impl FnMut(&[u64], &[u64]) -> (usize, usize),
) -> (usize, usize) {
    // A round has at least one of the rarer kind, so that the mix is the same throughout.
    let (more, fewer) = (inserts.len().max(lookups.len()), inserts.len().min(lookups.len()).max(1));
    let chunk = if way == Way::Single { more.div_ceil(fewer) } else { Way::BATCH };
    let rounds = more.div_ceil(chunk.min(Way::BATCH)).max(1);
    let part = |keys: usize, round: usize| keys * round / rounds..keys * (round + 1) / rounds;
    let (mut refused, mut found) = (0, 0);
    for number in 0..rounds {
        let answer =
            round(&inserts[part(inserts.len(), number)], &lookups[part(lookups.len(), number)]);
        refused += answer.0;
        found += answer.1;
    }
    (refused, found)
}

/// A filter by name, and how an empty one is made for a number of keys.
pub struct SharedContender {
    /// The name in tables.
    pub name: String,
    /// Makes one.
    pub build: Box<dyn Fn(u64) -> Result<Box<dyn Shared>>>,
}

/// More threads than this are taken for a mistake.
const MOST_THREADS: usize = 1024;

/// Measures all contenders, alternating, and prints rates and what more threads gain. Returns the
/// rows that it wrote.
///
/// # Errors
///
/// If a filter cannot be built, refuses a key, or misses one; or a file cannot be written.
pub fn report(args: &ThreadsArgs, contenders: &[SharedContender]) -> Result<Vec<Row>> {
    let possible = |threads: &usize| (1..=MOST_THREADS).contains(threads);
    ensure!(
        args.runs > 0 && args.threads.iter().all(possible),
        "ask for --runs of at least 1, and for 1 to {MOST_THREADS} --threads"
    );
    let contenders = chosen(&args.only, contenders)?;
    let mut report = Report::new(Machine::describe(args.output.date.clone()));
    print!("{}", report.head());
    for mix in Mix::ALL {
        for way in [Way::Single, Way::Batch] {
            let rows = measure(args, &contenders, mix, way)?;
            print!("{}", grid(args, mix, way, &rows));
            report.rows.extend(rows.into_iter().flatten());
            report.write(&args.output)?;
        }
    }
    Ok(report.rows)
}

/// Those that were asked for by name; all, if none was.
fn chosen<'a>(only: &[String], all: &'a [SharedContender]) -> Result<Vec<&'a SharedContender>> {
    let known = |name: &String| all.iter().any(|contender| contender.name == *name);
    if let Some(name) = only.iter().find(|name| !known(name)) {
        let names: Vec<_> = all.iter().map(|contender| contender.name.as_str()).collect();
        bail!("--only {name:?}: no such filter; there are: {}", names.join("; "));
    }
    let wanted = |contender: &&SharedContender| only.is_empty() || only.contains(&contender.name);
    Ok(all.iter().filter(wanted).collect())
}

/// A row for each number of threads of each contender that supports the way.
fn measure(
    args: &ThreadsArgs,
    contenders: &[&SharedContender],
    mix: Mix,
    way: Way,
) -> Result<Vec<Vec<Row>>> {
    let mut rates = vec![vec![Vec::new(); args.threads.len()]; contenders.len()];
    for run in 0..args.runs {
        for index in alternating(contenders.len(), run) {
            let SharedContender { name, build } = contenders[index];
            for turn in alternating(args.threads.len(), run) {
                let filter = build(args.keys)?;
                if way == Way::Single || filter.has_batches() {
                    let rate = mix.run(&*filter, args.keys, args.threads[turn], way, args.seed);
                    rates[index][turn].push(rate.with_context(|| name.clone())?);
                }
            }
        }
    }
    let row = |name: &str, threads: usize, rates: &[f64]| Row {
        contender: name.to_owned(),
        keys: args.keys,
        measure: format!("{mix}, {way}, {threads} threads"),
        unit: "M/s".to_owned(),
        median: median(rates).unwrap_or(f64::NAN),
        least: rates.iter().copied().fold(f64::INFINITY, f64::min),
        greatest: rates.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        runs: rates.len(),
        of_limit: None,
    };
    let rows = contenders.iter().zip(&rates).filter(|(_, rates)| !rates[0].is_empty());
    let rows = rows.map(|(contender, rates)| {
        let rows = args.threads.iter().zip(rates);
        rows.map(|(&threads, rates)| row(&contender.name, threads, rates)).collect()
    });
    Ok(rows.collect())
}

fn grid(args: &ThreadsArgs, mix: Mix, way: Way, rows: &[Vec<Row>]) -> Grid {
    let title = format!("{mix}, {way}: million operations a second by threads");
    let head = std::iter::once(String::new()).chain(args.threads.iter().map(ToString::to_string));
    let mut grid = Grid::new(title, head.chain(["gain".to_owned(), "of the first".to_owned()]));
    let last = |row: &[Row]| row.last().map(|row| row.median);
    let first = rows.first().and_then(|row| last(row));
    for row in rows {
        let ratio = |of: Option<f64>| number(of.zip(last(row)).map(|(of, rate)| rate / of));
        let rates = row.iter().map(|row| number(Some(row.median)));
        let cells = std::iter::once(row[0].contender.clone()).chain(rates);
        let gain = ratio(row.first().map(|row| row.median));
        grid.row(cells.chain([gain, number(last(row).zip(first).map(|(r, f)| r / f))]));
    }
    grid
}
