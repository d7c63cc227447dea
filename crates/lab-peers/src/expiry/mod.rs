//! Sets whose keys expire, and other people's, in one process.

mod rivals;
mod windows;

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use lab::args::parse_count;
use lab::keys::Keys;
use lab::machine::Machine;
use lab::measure::{alternating, rate, timed};
use lab::results::{Figures, RATE};
use rivals::{Clock, Rotating};
use windows::{Ours, Shared, TTL, Window};

/// Keys that are handed over at once, and of one step of time.
const BATCH: usize = 1024;
/// The same where threads share: a batch takes each lock once.
const SHARED_BATCH: usize = 8192;
/// Ages that are asked for in each window.
const AGES: u64 = 100;

/// The meaning of the table.
const HELP: &str = "\
Each is built for the keys of one window at 0.1 %. Million operations per second of processor time,
for two threads by the clock; medians of the runs. The check-and-insert is of a stream with each key
twice. \"Beyond\" is how long a key is found after the window, on average and at most.";

/// Options of sets whose keys expire.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct ExpiryArgs {
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

pub(crate) fn report(args: &ExpiryArgs) -> Result<()> {
    print!("{}", Machine::describe(args.date.clone()).head());
    let keys = usize::try_from(args.keys)?;
    let mut all = vec![0; 2 * keys];
    Keys::new(1).members(0, &mut all);
    let mut work = Work { all, figures: Figures::default() };
    for run in 0..args.runs {
        for side in alternating(4, run) {
            match side {
                0 => work.measure("ours", || Ours::new(keys, 1), Some(|| Ours::shared(keys, 1))),
                1 => {
                    let shared = || Ours::shared(keys, SHARED_BATCH);
                    work.measure("ours, batches", || Ours::new(keys, BATCH), Some(shared))
                }
                2 => work.measure("cuckoo-clock", || Clock::new(keys), Some(|| Clock::new(keys))),
                // Not for threads.
                _ => {
                    let shared = None::<fn() -> Result<Clock>>;
                    work.measure("two Bloom filters", || Ok(Rotating::new(keys)), shared)
                }
            }?;
        }
    }
    let title = format!("{keys} keys in a window");
    print!("{}{}", work.figures.by_measure(&title), work.figures.ratios());
    Ok(())
}

struct Work {
    /// The keys of a window, and as many that are absent.
    all: Vec<u64>,
    figures: Figures,
}

impl Work {
    /// All measures of one contender, which is made again for each.
    fn measure<W: Window, S: Shared>(
        &mut self,
        name: &str,
        make: impl Fn() -> Result<W>,
        shared: Option<impl Fn() -> Result<S>>,
    ) -> Result<()> {
        let keys = self.all.len() / 2;
        let (present, absent) = self.all.split_at(keys);
        let figures = &mut self.figures;
        let mut add = |measure: &str, unit: &str, value: f64| {
            figures.add(name, keys as u64, measure, unit, value);
        };
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
        add("inserts", RATE, inserts);
        add("bits a key", "bits", window.bytes() as f64 * 8.0 / keys as f64);
        let (mut found, mut wrong) = (0, 0);
        add("lookups, present", RATE, of_keys(&mut || found = window.count(present)));
        add("lookups, absent", RATE, of_keys(&mut || wrong = window.count(absent)));
        ensure!(found == keys, "{} keys were forgotten early", keys - found);

        // Each twice, the second time half of the stream later.
        let half = &present[..keys / 2];
        let twice = [half, half].concat();
        let mut window = make()?;
        add("check-and-insert", RATE, of_keys(&mut || window.insert_new(black_box(&twice))));
        if let Some(shared) = shared {
            let shared = shared()?;
            let start = Instant::now();
            thread::scope(|scope| {
                for part in twice.chunks(keys / 2) {
                    scope.spawn(|| shared.insert_new(part));
                }
            });
            add("check-and-insert, two threads", RATE, rate(keys as u64, start.elapsed()));
        }
        let false_positives = wrong as f64 / keys as f64;
        add("false positives", "%", false_positives * 100.0);
        let memory = Memory::of(make()?, keys, false_positives);
        add("forgotten within the window", "%", memory.early * 100.0);
        add("beyond, mean", "windows", memory.beyond);
        add("beyond, longest", "windows", memory.longest);
        Ok(())
    }
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
