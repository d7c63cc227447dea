//! `expiry-peers`: sets whose keys expire beside what others have, in one process.

mod rivals;
mod windows;

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Parser;
use lab::args::parse_count;
use lab::keys::Keys;
use lab::machine::Machine;
use lab::measure::{alternating, median, rate, timed};
use lab::report::{Grid, Report, number};
use rivals::{Clock, Rotating};
use windows::{Ours, Shared, TTL, Window};

/// Keys that are handed over at once, and of one step of time.
const BATCH: usize = 1024;
/// The same where threads share: a batch takes each lock once.
const SHARED_BATCH: usize = 8192;
/// Ages that are asked for in each window.
const AGES: u64 = 100;

/// Let sets whose keys expire, of ours and of others, take in keys and look them up, and print the
/// ratios
///
/// Each is built for the keys of one window at 0.1 %. Million operations a second of processor
/// time, for two threads by the clock; medians of the runs. The check-and-insert is of a stream
/// with each key twice. "Beyond" is how long a key is found after the window, on average and at
/// most.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Keys of a window
    #[arg(long, value_parser = parse_count, default_value = "1M")]
    keys: u64,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Date to note, instead of the clock's
    #[arg(long)]
    date: Option<String>,
}

/// What is measured, and the unit that it is told in.
const MEASURES: [&str; 10] = [
    "inserts",
    "lookups, present",
    "lookups, absent",
    "check-and-insert",
    "check-and-insert, two threads",
    "bits a key",
    "false positives, %",
    "forgotten within the window, %",
    "beyond, of the window, mean",
    "beyond, of the window, longest",
];
const NAMES: [&str; 4] = ["ours", "ours, batches", "cuckoo-clock", "two Bloom filters"];

/// The last measure of which a ratio says something.
const BITS: usize = 5;

type Figures = [Option<f64>; MEASURES.len()];

fn main() -> Result<()> {
    let cli = Cli::parse();
    print!("{}", Report::new(Machine::describe(cli.date)).head());
    let keys = usize::try_from(cli.keys)?;
    let mut runs = [const { Vec::<Figures>::new() }; NAMES.len()];
    for run in 0..cli.runs {
        for side in alternating(NAMES.len(), run) {
            runs[side].push(match side {
                0 => figures(|| Ours::new(keys, 1), || Some(Ours::shared(keys, 1)), keys)?,
                1 => {
                    let shared = || Some(Ours::shared(keys, SHARED_BATCH));
                    figures(|| Ours::new(keys, BATCH), shared, keys)?
                }
                2 => figures(|| Clock::new(keys), || Some(Clock::new(keys)), keys)?,
                // Not for threads.
                _ => figures(|| Ok(Rotating::new(keys)), || None::<Result<Clock>>, keys)?,
            });
        }
    }
    let mut grid = Grid::new(
        format!("{keys} keys in a window"),
        ["", NAMES[0], NAMES[1], NAMES[2], "ours / clock", "batches / clock", NAMES[3]],
    );
    for (measure, name) in MEASURES.into_iter().enumerate() {
        let middle = |side: usize| {
            let values: Vec<f64> = runs[side].iter().filter_map(|run| run[measure]).collect();
            median(&values)
        };
        let over = |side| Some(middle(side)? / middle(2)?).filter(|_| measure <= BITS);
        let cells = [middle(0), middle(1), middle(2), over(0), over(1), middle(3)];
        let exact = |cell: Option<f64>| match cell {
            Some(cell) if measure > BITS => format!("{cell:.4}"),
            _ => number(cell),
        };
        grid.row([name.to_owned()].into_iter().chain(cells.map(exact)));
    }
    print!("{grid}");
    Ok(())
}

/// All measures of one of them, which is made anew for each.
fn figures<W: Window, S: Shared>(
    make: impl Fn() -> Result<W>,
    shared: impl Fn() -> Option<Result<S>>,
    keys: usize,
) -> Result<Figures> {
    let mut all = vec![0; 2 * keys];
    Keys::new(1).members(0, &mut all);
    let (present, absent) = all.split_at(keys);
    let of_keys = |work: &mut dyn FnMut()| {
        let mut time = Duration::ZERO;
        timed(&mut time, work);
        rate(keys as u64, time)
    };

    let mut window = make()?;
    let inserts = of_keys(&mut || {
        for (step, batch) in present.chunks(BATCH).enumerate() {
            // All within one window.
            window.advance((step * BATCH) as u64 * (TTL - 1) / keys as u64);
            window.insert(batch);
        }
    });
    let bits = window.bytes() as f64 * 8.0 / keys as f64;
    let (mut found, mut wrong) = (0, 0);
    let hits = of_keys(&mut || found = window.count(present));
    let misses = of_keys(&mut || wrong = window.count(absent));
    ensure!(found == keys, "{} keys were forgotten early", keys - found);

    // Each twice, the second time half of the stream later.
    let half = &present[..keys / 2];
    let twice = [half, half].concat();
    let mut window = make()?;
    let new = of_keys(&mut || window.insert_new(black_box(&twice)));
    let threads = shared().transpose()?.map(|shared| {
        let start = Instant::now();
        thread::scope(|scope| {
            for part in twice.chunks(keys / 2) {
                scope.spawn(|| shared.insert_new(part));
            }
        });
        rate(keys as u64, start.elapsed())
    });
    let false_positives = wrong as f64 / keys as f64;
    let memory = Memory::of(make()?, keys, false_positives);
    Ok([
        Some(inserts),
        Some(hits),
        Some(misses),
        Some(new),
        threads,
        Some(bits),
        Some(false_positives * 100.0),
        Some(memory.early * 100.0),
        Some(memory.beyond),
        Some(memory.longest),
    ])
}

/// How well the window is kept.
#[derive(Default)]
struct Memory {
    /// The share of keys that are not found within the window.
    early: f64,
    /// How long a key is found after the window, in windows: on average, and the longest.
    beyond: f64,
    longest: f64,
}

impl Memory {
    /// A steady stream of three windows; in the last one keys of all ages up to two windows are
    /// asked for, ten times.
    fn of(mut window: impl Window, keys: usize, false_positives: f64) -> Self {
        let stream = Keys::new(2);
        // A thousandth of a window at a time.
        let part = (keys / 1000).max(1);
        let key = |step: u64| -> Vec<u64> {
            let mut batch = vec![0; part];
            stream.members(step * part as u64, &mut batch);
            batch
        };
        let (mut memory, mut samples) = (Self::default(), 0);
        for step in 0..3000 {
            window.advance(step * TTL / 1000);
            window.insert(&key(step));
            if step < 2000 || step % 100 != 50 {
                continue;
            }
            samples += 1;
            for age in 0..2 * AGES {
                let asked = key(step - age * (1000 / AGES) - 1);
                let share = window.count(&asked) as f64 / asked.len() as f64;
                if age < AGES {
                    memory.early += 1.0 - share;
                } else {
                    memory.beyond += (share - false_positives).max(0.0);
                    if share > 0.5 {
                        memory.longest = memory.longest.max((age + 1) as f64 / AGES as f64 - 1.0);
                    }
                }
            }
        }
        let asked = f64::from(samples) * AGES as f64;
        memory.early /= asked;
        memory.beyond /= asked;
        memory
    }
}
