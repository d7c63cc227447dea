//! Deduplicators of texts while they grow: what a text costs in time and memory at each size, and
//! how many texts are lost wrongly.

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use lab_keys::Keys;
use malkoha_text::{Decision, Deduplicator, Options};

use crate::args::{OutputArgs, parse_count};
use crate::measure::{memory, process_time, progress, reset_peak};
use crate::plots::plot::{Axis, Line, Plot};
use crate::report::{Report, read_csv};
use crate::results::{Figures, Row};

const RANDOM: Keys = Keys::new(1);
const WORDS: u64 = 50_000;

/// Texts that are made, and then decided on, at a time.
const ROUND: u64 = 1 << 15;

/// The measures: of the texts since the size before, and of all.
const RATE: &str = "rate";
const LOST: &str = "lost wrongly";
const EXPECTED: &str = "lost next, expected";
const INDEX: &str = "index";
const PROCESS: &str = "process";

/// Options of the texts.
#[derive(Args, Clone, Debug)]
pub struct TextsArgs {
    /// Numbers of texts at which it is measured
    #[arg(long, value_parser = parse_count, value_delimiter = ',')]
    #[arg(default_value = "100k,200k,500k,1M,2M,5M,10M,20M,30M")]
    pub texts: Vec<u64>,
    /// Threads that prepare texts
    #[arg(long, default_value_t = 2)]
    pub threads: usize,
    /// Draw a result file, and measure nothing
    #[arg(long, value_name = "FILE", requires = "plots")]
    pub from: Option<PathBuf>,
    /// Draw plots into this folder
    #[arg(long, value_name = "FOLDER")]
    pub plots: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help's heading")]
    pub output: OutputArgs,
}

/// Measures, prints a table, and draws.
///
/// # Errors
///
/// If memory is refused, or a file cannot be read or written.
pub fn report(args: &TextsArgs) -> Result<()> {
    let rows = match &args.from {
        Some(path) => {
            let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
            read_csv(file)?
        }
        None => measure(args)?,
    };
    args.plots.as_ref().map_or(Ok(()), |folder| draw(folder, &rows))
}

fn measure(args: &TextsArgs) -> Result<Vec<Row>> {
    let mut report = Report::start(&args.output);
    let mut figures = Figures::default();
    for (name, options) in [("equal", Options::exact()), ("near", Options::near(0.8)?)] {
        grow(name, options, args, &mut figures)?;
    }
    print!("{}", figures.by_size("Texts", &[RATE, LOST, EXPECTED, INDEX, PROCESS]));
    report.add(figures.rows())?;
    Ok(figures.rows())
}

fn grow(name: &str, options: Options, args: &TextsArgs, figures: &mut Figures) -> Result<()> {
    let words: Vec<String> = (0..WORDS).map(word).collect();
    let mut seen = Deduplicator::new(options)?;
    let mut texts = round(&words, 0..ROUND, args.threads);
    // From here on, the peak is that of the process with this deduplicator.
    reset_peak();
    let before = memory("VmHWM");
    let mut decided = 0;
    for &size in &args.texts {
        let (start, mut used, mut lost, mut alone) = (decided, Duration::ZERO, 0, 0_u64);
        while decided < size {
            progress(format_args!("{name}: {decided} of {size}"));
            let end = size.min(decided + ROUND);
            texts = round(&words, decided..end, args.threads);
            let since = process_time();
            let decisions = seen.decide_many(&texts, args.threads)?;
            used += process_time().saturating_sub(since);
            for (number, decision) in (decided..end).zip(decisions) {
                if !is_copy(number) {
                    alone += 1;
                    lost += u64::from(decision != Decision::Keep);
                }
            }
            decided = end;
        }
        let kept = seen.kept() as f64;
        let rate = (size - start) as f64 / used.as_secs_f64() / 1e3;
        figures.add(name, size, RATE, "k/s", rate);
        figures.add(name, size, LOST, "per million", lost as f64 / alone as f64 * 1e6);
        figures.add(name, size, EXPECTED, "per million", seen.expected_wrong_loss() * 1e6);
        figures.add(name, size, INDEX, "bytes", seen.size_in_bytes() as f64 / kept);
        let grown = memory("VmHWM").saturating_sub(before);
        figures.add(name, size, PROCESS, "bytes", grown as f64 / kept);
    }
    drop(texts);
    Ok(())
}

/// Texts of these numbers.
fn round(words: &[String], numbers: Range<u64>, threads: usize) -> Vec<String> {
    let numbers: Vec<u64> = numbers.collect();
    let mut texts = vec![String::new(); numbers.len()];
    let share = numbers.len().div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        for (texts, numbers) in texts.chunks_mut(share).zip(numbers.chunks(share)) {
            scope.spawn(move || {
                texts.iter_mut().zip(numbers).for_each(|(text, &of)| *text = make(words, of));
            });
        }
    });
    texts
}

/// Of 4 to 8 letters.
fn word(number: u64) -> String {
    let letter = |at| char::from(b'a' + (RANDOM.key(number << 3 | at) % 26) as u8);
    (0..4 + RANDOM.key(number << 3 | 7 | 1 << 63) % 5).map(letter).collect()
}

/// A fifth of the texts.
fn is_copy(number: u64) -> bool {
    number > 0 && RANDOM.key(number ^ 1 << 62).is_multiple_of(5)
}

/// A text of 12 to 27 words. Copies have those of an earlier text, with up to a tenth changed.
fn make(words: &[String], number: u64) -> String {
    let mut of = number;
    while is_copy(of) {
        of = RANDOM.key(of ^ 1 << 61) % of;
    }
    let changed = if of == number { 0 } else { RANDOM.key(number ^ 1 << 60) % 11 };
    let word = |at| {
        let is_other = RANDOM.key((number << 5 | at) ^ 1 << 59) % 100 < changed;
        let from = if is_other { number } else { of };
        &*words[(RANDOM.key((from << 5 | at) ^ 1 << 58) % WORDS) as usize]
    };
    (0..12 + RANDOM.key(of ^ 1 << 57) % 16).map(word).collect::<Vec<_>>().join(" ")
}

fn draw(folder: &Path, rows: &[Row]) -> Result<()> {
    let most = rows.iter().map(|row| row.keys).max().unwrap_or(1) as f64;
    let (from, to) = (4.9, most.log10() + 0.1);
    let x = Axis { label: "texts, powers of ten", from, to, logarithmic: false };
    for contender in ["equal", "near"] {
        for (file, label, measures) in [
            ("rate", "thousand texts per second of one processor", &[RATE][..]),
            ("memory", "bytes per kept text", &[INDEX, PROCESS]),
        ] {
            let line = |measure: &&str| -> Line {
                let rows = rows.iter().filter(|row| row.contender == contender);
                let points = rows
                    .filter(|row| row.measure == *measure)
                    .map(|row| ((row.keys as f64).log10(), row.median));
                (format!("{contender} texts: {measure}"), points.collect())
            };
            let lines: Vec<Line> = measures.iter().map(line).collect();
            let values = lines.iter().flat_map(|(_, points)| points).map(|point| point.1);
            let y = Axis { label, from: 0.0, to: values.fold(0.0, f64::max) * 1.1, ..x };
            let file = format!("datasets-{contender}-{file}.svg");
            let path = folder.join(&file);
            let plot = Plot::new(&file, &format!("{contender} texts"), x, y, &lines)?;
            fs::write(&path, plot.svg).with_context(|| format!("writing {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_measured_and_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let output = OutputArgs { csv: Some(folder.path().join("texts.csv")), date: None };
        let plots = Some(folder.path().to_path_buf());
        let args = TextsArgs { texts: vec![1000, 4000], threads: 2, from: None, plots, output };
        report(&args).unwrap();
        let again = TextsArgs { from: args.output.csv.clone(), ..args };
        let plot = folder.path().join("datasets-near-memory.svg");
        let drawn = fs::read_to_string(&plot).unwrap();
        assert!(drawn.contains("near texts: process"));
        report(&again).unwrap();
        assert_eq!(drawn, fs::read_to_string(&plot).unwrap());
        let copies = (0..10_000).filter(|&number| is_copy(number)).count();
        assert!((1_800..2_200).contains(&copies), "{copies}");
    }
}
