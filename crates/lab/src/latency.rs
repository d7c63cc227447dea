//! The time from a key to its answer: each lookup's key depends on the answer before it, so that no
//! two lookups overlap, and latency is measured, not throughput. Section 7.2 of the paper announces
//! such figures and shows none.
//!
//! The clock is read before and after a chain of lookups, which takes many times as long as reading
//! it, so its resolution and its cost are negligible. Percentiles are over chains, each counted as
//! the mean of its lookups: a single slow lookup shows as its share of a chain.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;
use malkoha::{ConcurrentCuckooFilter, GrowableCuckooFilter};

use crate::args::parse_count;
use crate::classic;
use crate::keys::{Keys, Present};
use crate::machine::Machine;
use crate::measure::alternating;
use crate::ours::Ours;
use crate::report::Grid;
use crate::results::Figures;
use crate::subject::{Contender, How};

/// The rate that filters are asked for.
const FPR: f64 = 0.0019;
/// The percentiles of the columns, in thousandths.
const PERCENTILES: [(usize, &str); 4] = [(500, "p50"), (900, "p90"), (990, "p99"), (999, "p99.9")];

/// Options of the latency of lookups.
#[derive(Args, Clone, Debug)]
pub struct LatencyArgs {
    /// Keys in each filter
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "100k,10M")]
    pub keys: Vec<u64>,
    /// Lookups of a chain, of which each needs the answer of the one before
    #[arg(long, default_value_t = 64)]
    pub chain: u32,
    /// Chains of each filter and each kind of keys, in each run
    #[arg(long, value_parser = parse_count, default_value = "20000")]
    pub chains: u64,
    /// Runs, in which the filters take turns; percentiles are over all of their chains
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// Where a sequence of dependent lookups is.
pub struct Walk {
    keys: Keys,
    members: u64,
    present: Present,
    position: u64,
    found: u64,
}

impl Walk {
    /// Does `lookups` lookups, each of a key that depends on the answer before. The dependency is
    /// an addition, not a branch: branch prediction would let the next lookup start early.
    #[inline(always)]
    pub(crate) fn chain(&mut self, lookups: u32, contains: impl Fn(u64) -> bool) {
        let mut key = [0];
        for _ in 0..lookups {
            self.keys.queries(self.present, self.members, self.position, &mut key);
            let found = u64::from(black_box(contains(key[0])));
            self.position += 1 + found;
            self.found += found;
        }
    }
}

/// A filter's own chain of lookups.
type Chain = Box<dyn Fn(&mut Walk, u32)>;

fn chain(contains: impl Fn(u64) -> bool + 'static) -> Chain {
    Box::new(move |walk, lookups| walk.chain(lookups, &contains))
}

/// Measures and prints.
///
/// # Errors
///
/// If an option is out of range, a filter cannot be built, or a key is missed.
pub fn report(args: &LatencyArgs) -> Result<()> {
    ensure!(args.chain > 0 && args.chains >= 1000, "--chain: at least 1; --chains: at least 1000");
    ensure!(args.runs > 0, "--runs: at least 1");
    print!("{}", Machine::describe(args.date.clone()).head());
    for &keys in &args.keys {
        print!("{}", table(args, keys)?);
    }
    Ok(())
}

fn table(args: &LatencyArgs, members: u64) -> Result<Grid> {
    let keys = Keys::new(args.seed);
    let filters = filters(keys, members)?;
    let mixes = [Present(0), Present(100)];
    let mut times: Vec<[Vec<f64>; 2]> = filters.iter().map(|_| [vec![], vec![]]).collect();
    for run in 0..args.runs {
        for number in alternating(filters.len(), run) {
            let (name, chain) = &filters[number];
            for (mix, &present) in mixes.iter().enumerate() {
                let position = u64::from(run) << 40;
                let mut walk = Walk { keys, members, present, position, found: 0 };
                for _ in 0..args.chains {
                    let start = Instant::now();
                    chain(&mut walk, args.chain);
                    let time = start.elapsed().as_secs_f64();
                    times[number][mix].push(time * 1e9 / f64::from(args.chain));
                }
                let all = args.chains * u64::from(args.chain);
                let is_filter = number >= BASELINES;
                ensure!(
                    !is_filter || present == Present(0) || walk.found == all,
                    "{name} misses {} of {all} keys",
                    all - walk.found
                );
            }
        }
    }
    let mut figures = Figures::default();
    for ((name, _), times) in filters.iter().zip(times) {
        for (what, mut times) in ["absent", "present"].into_iter().zip(times) {
            times.sort_by(f64::total_cmp);
            for (thousandths, percentile) in PERCENTILES {
                let time = times[times.len() * thousandths / 1000];
                figures.add(name, members, &format!("{what}, {percentile}"), "ns", time);
            }
        }
    }
    let title = format!("Nanoseconds of a lookup, in chains of {}", args.chain);
    let columns = |what: &str| PERCENTILES.map(|(_, name)| format!("{what}, {name}"));
    Ok(figures.by_size(&title, &[columns("absent"), columns("present")].concat()))
}

/// The first entries are not filters: the chain alone, and one read of memory.
const BASELINES: usize = 2;

fn filters(keys: Keys, members: u64) -> Result<Vec<(String, Chain)>> {
    let mut all = vec![0; usize::try_from(members)?];
    keys.members(0, &mut all);
    let mut filters: Vec<(String, Chain)> =
        vec![("no lookup: the next key alone".into(), chain(|key| key & 1 != 0))];
    // As many bytes as a filter of twelve bits per slot has.
    let words = vec![1_u64; usize::try_from(members * 3 / 16 + 1)?];
    let read = move |key| {
        words[usize::try_from(crate::keys::scale(key, words.len() as u64)).unwrap_or(0)] != 0
    };
    filters.push(("one read, of a table of the same size".into(), chain(read)));
    let layouts = ["bucketed", "semi-sorted", "gap-windows", "words"];
    let layouts = layouts.map(|layout| layout.parse().map(Ours::contender));
    let mut contenders = layouts.into_iter().collect::<Result<Vec<_>>>()?;
    contenders.push(Contender::new("growable, from a hundredth", true, |members| {
        Ok(GrowableCuckooFilter::with_capacity(members / 100 + 1, FPR)?)
    }));
    contenders.push(Contender::new("shared by threads", true, |members| {
        let builder = ConcurrentCuckooFilter::builder().capacity(members);
        Ok(builder.fingerprint_bits(12).build()?)
    }));
    contenders.extend(classic::contenders(FPR));
    for contender in contenders {
        let mut subject = (contender.make)(members)?;
        let mut refused = Vec::new();
        subject.insert_all(How::Many, &all, &mut refused);
        ensure!(refused.is_empty(), "{} refuses keys", contender.name);
        filters.push((contender.name, Box::new(move |walk, lookups| subject.walk(walk, lookups))));
    }
    Ok(filters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_has_a_row_and_misses_no_key() {
        let args =
            LatencyArgs { keys: vec![], chain: 64, chains: 10, runs: 1, seed: 1, date: None };
        let text = table(&args, 2000).unwrap().to_string();
        for row in ["no lookup", "one read", "bucketed:12", "growable", "d-left"] {
            assert!(text.lines().any(|line| line.contains(row)), "{text}");
        }
    }

    /// A lookup's key depends on the answer before: another answer, another key.
    #[test]
    fn answers_decide_what_is_asked() {
        let asked = |answer: bool| {
            let (keys, members) = (Keys::new(1), 100);
            let mut walk = Walk { keys, members, present: Present(100), position: 0, found: 0 };
            let seen = std::cell::RefCell::new(Vec::new());
            walk.chain(4, |key| {
                seen.borrow_mut().push(key);
                answer
            });
            seen.into_inner()
        };
        assert_eq!(asked(true)[0], asked(false)[0]);
        assert_ne!(asked(true)[1..], asked(false)[1..]);
    }
}
