//! `malkoha dedup`: documents without duplicates, file by file.

mod decide;
mod journal;
mod lock;
mod progress;
mod seen;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{ArgGroup, Args};
use indicatif::HumanBytes;
use malkoha::KeyHasher;
use malkoha_text::{Bands, Method, Options, Shingle};
use parking_lot::Mutex;
use serde_json::{Value, json};

use self::decide::Decider;
use self::journal::Journal;
use self::lock::Lock;
use self::progress::{Progress, Totals};
use self::seen::Seen;
use super::documents::{DocumentArgs, Files, Report, Shard};
use crate::failure::{Outcome, tell, tell_summary};
use crate::input::{is_dash, is_same, name};
use crate::output::print_record;

/// Drop duplicate documents of a data set: equal ones, similar ones, repeated paragraphs
#[derive(Args, Debug)]
#[command(after_help = include_str!("help.txt"))]
#[command(group = ArgGroup::new("method").args(["near", "words", "paragraphs"]))]
pub(crate) struct Arguments {
    #[command(flatten)]
    documents: DocumentArgs,

    /// Drop documents of at least about this Jaccard similarity, from 0.3 to 0.99
    #[arg(long, value_name = "SIMILARITY")]
    near: Option<f64>,

    /// Drop documents of equal words, whatever their case, punctuation, symbols and space
    #[arg(long)]
    words: bool,

    /// Cut repeated paragraphs, which are lines of the text
    #[arg(long)]
    paragraphs: bool,

    /// With --near: compare runs of N words, or of N characters as in 13c
    #[arg(long, value_name = "N", default_value = "5", requires = "near")]
    #[arg(value_parser = parse_shingle)]
    shingle: Shingle,

    /// With --near: this many bands of this many rows each, as in 16x8 [default: by SIMILARITY]
    #[arg(long, value_name = "BANDSxROWS", value_parser = parse_bands, requires = "near")]
    bands: Option<Bands>,

    /// With --near: the largest probability to lose a document without a similar one
    #[arg(long, value_name = "RATE", default_value_t = 1e-4, requires = "near")]
    rate: f64,

    /// With --paragraphs: drop a document that was cut if less is left of it
    #[arg(long, value_name = "BYTES", default_value_t = 100, requires = "paragraphs")]
    min_left: u32,

    /// With --paragraphs: never cut shorter ones
    #[arg(long, value_name = "BYTES", default_value_t = 0, requires = "paragraphs")]
    min_paragraph: u32,

    /// Also drop duplicates of what earlier runs with this file kept, and add what this one keeps
    #[arg(long, value_name = "FILE")]
    seen: Option<PathBuf>,

    /// Write for each document that was dropped or cut why, and of which one it is a duplicate:
    /// a JSON object a line. Takes up to 25 more bytes per kept document, with --near 40 to 80
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Only count
    #[arg(long, conflicts_with_all = ["output", "resume"])]
    dry_run: bool,

    /// Go on with a run that did not end, if inputs and options are the same
    #[arg(long, requires = "output")]
    resume: bool,

    /// Key of the hashes: somebody who knows it can make texts that are dropped
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print the counts as a JSON record: to stdout with --output or --dry-run, else to stderr
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let start = Instant::now();
    let options = arguments.options()?;
    let shards = arguments.documents.shards()?;
    if !arguments.dry_run {
        arguments.documents.check_stdout(&shards)?;
    }
    arguments.check_files(&shards)?;
    // Held until the state is written, so that no other run adds to it meanwhile.
    let _lock = arguments.lock_seen()?;
    let mut seen = match &arguments.seen {
        Some(path) if path.exists() => Seen::open(path, &options)?,
        _ => Seen::new(options)?,
    };
    let directory = arguments.documents.output.as_deref();
    let journal =
        directory.map(|it| arguments.journal(it, &shards, &options, &seen)).transpose()?;
    let (progress, is_done) = journal.as_ref().map(|it| (it.progress, it.done)).unwrap_or_default();
    let mut totals = progress.totals;
    let journal = journal.map(|journal| Arc::new(Mutex::new(journal)));
    if let Some(directory) = directory.filter(|_| is_done) {
        tell_summary(&format!("the run in {} is finished already", name(directory)));
    // A run can be killed after its last step, which writes the file of --seen.
    } else if progress.finished < shards.len() || seen.texts.decided() == progress.before {
        let saved = journal.as_ref().map(|it| it.lock().state(&options)).transpose()?.flatten();
        seen = saved.unwrap_or(seen);
        (seen, totals) = arguments.work(&shards, seen, progress, journal.clone())?;
        journal.as_ref().map_or(Ok(()), |journal| journal.lock().check())?;
        if let Some(path) = arguments.seen.as_ref().filter(|_| !arguments.dry_run) {
            seen.save(path)?;
        }
    }
    journal.map_or(Ok(()), |journal| journal.lock().end())?;
    arguments.summarise(&totals, &seen, start)?;
    // Bad records that stay are found, too.
    Ok(Outcome::found_if(totals.kept + totals.bad > totals.bad_dropped))
}

impl Arguments {
    fn options(&self) -> Result<Options> {
        let method = if let Some(similarity) = self.near {
            let bands = self.bands.map_or_else(|| Bands::for_similarity(similarity), Ok)?;
            Method::Near { bands, shingle: self.shingle, rate: self.rate }
        } else if self.paragraphs {
            Method::Paragraphs { shortest: self.min_paragraph, least_left: self.min_left }
        } else if self.words {
            Method::Words
        } else {
            Method::Exact
        };
        let options = Options::of(method).hasher(KeyHasher::new(self.seed));
        Ok(options.numbered(self.report.is_some()))
    }

    fn lock_seen(&self) -> Result<Option<Lock>> {
        let lock = |seen: &PathBuf| {
            let mut path = seen.clone().into_os_string();
            path.push("-lock");
            Lock::take(path.into(), seen)
        };
        self.seen.as_ref().filter(|_| !self.dry_run).map(lock).transpose()
    }

    /// Refuses files of the run that are others of it, before one is overwritten.
    fn check_files(&self, shards: &[Shard]) -> Result<()> {
        for path in [&self.report, &self.seen].into_iter().flatten() {
            self.documents.check_other(path, shards)?;
        }
        if let Some(seen) = &self.seen {
            let directory = seen.parent().filter(|parent| *parent != Path::new(""));
            ensure!(
                !is_dash(seen) && !seen.is_dir() && directory.is_none_or(Path::is_dir),
                "cannot write {}: name a file in a directory that exists",
                name(seen)
            );
            ensure!(
                self.report.as_ref().is_none_or(|report| report != seen && !is_same(report, seen)),
                "{} is both the report and the file of --seen",
                name(seen)
            );
        }
        Ok(())
    }

    /// All that decides over the output.
    fn identity(&self, options: &Options) -> Value {
        json!({
            "options": format!("{options:?}"),
            "field": self.documents.field,
            "bad": format!("{:?}", self.documents.bad),
            "seen": self.seen,
            "report": self.report,
        })
    }

    /// The journal of this run in the output directory.
    fn journal(
        &self,
        directory: &Path,
        shards: &Arc<[Shard]>,
        options: &Options,
        seen: &Seen,
    ) -> Result<Journal> {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}", name(directory)))?;
        let (run, decided) = (self.identity(options), seen.texts.decided());
        let how = (self.resume, self.documents.force);
        let journal = Journal::open(directory, shards, run, how, decided)?;
        let progress = journal.progress;
        if !journal.resumed {
            self.documents.check_outputs(shards)?;
        }
        ensure!(
            decided == progress.before
                || progress.finished == shards.len() && decided > progress.before,
            "the file of --seen is not the one that the run began with: put that one back"
        );
        Ok(journal)
    }

    fn work(
        &self,
        shards: &Arc<[Shard]>,
        seen: Seen,
        progress: Progress,
        journal: Option<Arc<Mutex<Journal>>>,
    ) -> Result<(Seen, Totals)> {
        let documents = &self.documents;
        let is_resumed = journal.as_ref().is_some_and(|journal| journal.lock().resumed);
        let after = is_resumed.then_some(progress.report);
        let report = self.report.as_deref();
        let report = report.map(|path| Report::open(path, after, documents.force)).transpose()?;
        journal.as_ref().map_or(Ok(()), |journal| journal.lock().begin())?;
        let preparer = seen.texts.preparer().clone();
        let prepare = move |text: &str, memory: &mut _, prepared: &mut _| {
            preparer.prepare(text, memory, prepared);
        };
        let reports = report.is_some();
        let decider = Decider::new(seen, Arc::clone(shards), reports, journal, progress);
        let how = (progress.finished, !self.dry_run, documents.force || is_resumed);
        let files = Files::new(Arc::clone(shards), how, report);
        let decider = documents.run(shards, progress.saved, prepare, decider, files)?;
        Ok((decider.seen, decider.progress.totals))
    }

    fn summarise(&self, totals: &Totals, seen: &Seen, start: Instant) -> Result<()> {
        let (texts, seconds) = (&seen.texts, start.elapsed().as_secs_f64());
        if self.json {
            let mut record = json!(totals);
            record["index_bytes"] = texts.size_in_bytes().into();
            record["expected_wrong_loss"] = texts.expected_wrong_loss().into();
            record["peak_bytes"] = peak_bytes().into();
            record["seconds"] = seconds.into();
            if self.documents.output.is_some() || self.dry_run {
                return print_record(&record);
            }
            tell(&record.to_string());
        } else {
            let index = HumanBytes(texts.size_in_bytes());
            let peak = peak_bytes().map(|peak| format!(", process {}", HumanBytes(peak)));
            let peak = peak.unwrap_or_default();
            tell_summary(&format!("{totals}; index {index}{peak}; {seconds:.1} s"));
        }
        Ok(())
    }
}

/// The largest memory that this process had, where the system says it.
fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

fn parse_shingle(text: &str) -> Result<Shingle, String> {
    let size = |digits: &str| match digits.parse() {
        Ok(size) if (1..=Shingle::MAX).contains(&size) => Ok(size),
        _ => Err(format!("write 1 to {}, or 1c to {0}c for characters", Shingle::MAX)),
    };
    match text.strip_suffix('c') {
        Some(digits) => size(digits).map(Shingle::Characters),
        None => size(text).map(Shingle::Words),
    }
}

fn parse_bands(text: &str) -> Result<Bands, String> {
    let parts = text
        .split_once('x')
        .and_then(|(bands, rows)| Some((bands.parse().ok()?, rows.parse().ok()?)));
    let (bands, rows) = parts.ok_or("write it as 16x8, for 16 bands of 8 rows")?;
    Bands::new(bands, rows).map_err(|error| error.to_string())
}
