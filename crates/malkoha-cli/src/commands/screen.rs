//! `malkoha screen`: the lines of a stream that are in a list.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

use crate::arguments::{InputArgs, PlaceArgs, SeedArgs, SelectArgs, ThreadArgs};
use crate::failure::{Outcome, tell};
use crate::input::{Inputs, List, Side, Texts, at_most_one_stdin, is_dash, name};
use crate::progress::Progress;
use crate::records::{KeyArgs, Keys, ListArgs};
use crate::screen::{
    Approximate, Domains, Exact, Marked, Matcher, Names, Networks, Selecting, StoreKeys, filter_of,
    open_index, print_selected,
};

/// Print the lines that are in a list
#[derive(Args, Debug)]
#[command(after_help = include_str!("screen.txt"))]
pub(crate) struct Arguments {
    /// List of lines, or directory of a store, whose keys are the lines; '-' is standard input. May
    /// be given several times
    #[arg(short = 'f', long = "list", value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    select: SelectArgs,

    /// Print before each line where it is listed: the list, and the line number in it
    #[arg(short, long, value_name = "WHAT", conflicts_with_all = ["invert", "approximate"])]
    origin: Option<Origin>,

    #[command(flatten)]
    seed: SeedArgs,

    #[command(flatten)]
    threads: ThreadArgs,

    /// Do not confirm hits against the list
    #[arg(long)]
    approximate: bool,

    /// Rate of false hits with --approximate
    #[arg(long, value_name = "RATE", default_value_t = 0.001, requires = "approximate")]
    fpr: f64,

    /// Find domains that are in the list, and their subdomains: names, URLs, and the lines of hosts
    /// files, resolvers and ad blockers
    #[arg(long, conflicts_with_all = ["approximate", "cidr"])]
    domain: bool,

    /// Find addresses in networks of the list: 192.0.2.0/24, ranges, and the lines of firewalls
    #[arg(long, conflicts_with = "approximate")]
    cidr: bool,

    /// Do not find what is in this list, with --domain or --cidr; can be given several times
    #[arg(long, value_name = "LIST")]
    allow: Vec<PathBuf>,

    #[command(flatten)]
    places: PlaceArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    list_keys: ListArgs,
}

/// The place in a list that is printed before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Origin {
    // The list that has the line, and the number of the line in it.
    List,
}

/// How lines are compared with those of lists.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// As wholes.
    Lines,
    /// By fingerprints alone, of this rate.
    Approximately(f64),
    Domains,
    Networks,
}

impl How {
    fn has_syntax(self) -> bool {
        matches!(self, Self::Domains | Self::Networks)
    }
}

/// Input from a pipe is read before the list, to see whether it is the smaller one, if the list has
/// at least this many bytes.
const LONG: u64 = 1 << 24;

/// How many times longer than an input that is indexed a list must be.
const TIMES: u64 = 2;

/// The longest input that is indexed for a list of unknown length, in bytes.
const MOST_FOR_UNKNOWN: u64 = 1 << 26;

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { lists, input, select, places, .. } = arguments;
    let mut side = places.side(input, &arguments.keys)?;
    at_most_one_stdin(lists.iter().chain(&arguments.allow).chain(side.inputs.paths()))?;
    let has_syntax = arguments.how().has_syntax();
    let keys = arguments.list_keys.keys(&arguments.keys, side.separator(), has_syntax)?;
    if arguments.list_keys.are_several() {
        side.keys = side.keys.joined(true);
    }
    if !arguments.allow.is_empty() && !has_syntax {
        bail!("--allow has domains or networks: add --domain or --cidr");
    }
    if has_syntax {
        side.inputs = side.inputs.numbered(true);
    }
    let matcher = arguments.matcher(&keys, &mut side)?;
    let lists = arguments.origin.map(|Origin::List| &lists[..]);
    let screening = Progress::unless_terminal("Screening", side.inputs.total_bytes());
    let selecting = Selecting { select, places, lists, known: None };
    print_selected(&side, matcher, selecting, arguments.threads.threads(), &screening)
}

impl Arguments {
    fn how(&self) -> How {
        match self {
            Self { domain: true, .. } => How::Domains,
            Self { cidr: true, .. } => How::Networks,
            Self { approximate: true, fpr, .. } => How::Approximately(*fpr),
            _ => How::Lines,
        }
    }

    /// The matcher that decides whether a record of `input` is in the lists. Reads the lists
    /// beforehand, and enough of the input to know which side is smaller.
    fn matcher(&self, keys: &Keys, input: &mut Side) -> Result<Vec<Box<dyn Matcher>>> {
        let mut parts: Vec<Box<dyn Matcher>> = Vec::new();
        // Lists of unknown size, with their numbers.
        let mut rest = Vec::new();
        for (number, path) in self.lists.iter().enumerate() {
            if let Some(stored) = StoreKeys::at(path)? {
                self.refuse_store()?;
                parts.push(Box::new(stored));
            } else if let Some(indexed) = self.indexed(number, keys) {
                parts.push(Box::new(indexed));
            } else {
                rest.push(number);
            }
        }
        if rest.is_empty() {
            return Ok(parts);
        }
        let paths = rest.iter().map(|&number| self.lists[number].clone()).collect();
        let side = self.side(paths, keys, input.separator());
        if let Some(marked) = self.marked(&side, input)? {
            parts.push(Box::new(marked));
            return Ok(parts);
        }
        let (texts, with_origins) = (Texts::open(&side)?, self.origin.is_some());
        parts.push(match self.how() {
            How::Lines => {
                let (hasher, threads) = (self.seed.hasher(), self.threads.threads());
                let indexing = Progress::new("Indexing", Some(texts.len()));
                let exact = Exact::build(texts, hasher, threads, &indexing)?;
                Box::new(self.numbered(exact, rest))
            }
            How::Approximately(fpr) => {
                Box::new(Approximate(Box::new(filter_of(&texts, fpr, self.seed.hasher())?)))
            }
            How::Networks => {
                let mut networks = Networks::default();
                networks.add(&texts, with_origins, false)?;
                self.allowed(&side, |texts| networks.add(texts, false, true))?;
                Box::new(networks.part())
            }
            How::Domains => {
                let mut names = Names::default();
                names.add(&texts, with_origins, false)?;
                drop(texts);
                self.allowed(&side, |texts| names.add(texts, false, true))?;
                Box::new(Domains::new(names)?)
            }
        });
        side.settle()?;
        Ok(parts)
    }

    /// Lists, all of which must be readable.
    fn side(&self, paths: Vec<PathBuf>, keys: &Keys, separator: u8) -> Side {
        let inputs = Inputs::of_files(paths, separator).all_needed();
        Side::new(inputs, keys.clone(), true, self.keys.strict)
    }

    /// Calls `each` with the lists of exceptions, which are read as these lists.
    fn allowed(&self, lists: &Side, each: impl FnOnce(&Texts) -> Result<()>) -> Result<()> {
        let side = self.side(self.allow.clone(), &lists.keys, lists.separator());
        each(&Texts::open(&side)?)?;
        side.settle()
    }

    fn refuse_store(&self) -> Result<()> {
        match self.how() {
            How::Lines if self.origin.is_some() => {
                bail!("a store's keys have no line numbers: leave -o away")
            }
            How::Lines => Ok(()),
            How::Approximately(_) => {
                bail!("a store answers without error: leave --approximate away")
            }
            _ => bail!("a store has keys, and no domains or networks: name a list of lines"),
        }
    }

    fn numbered(&self, exact: Exact, lists: Vec<usize>) -> Exact {
        if self.origin.is_some() { exact.numbered(lists) } else { exact }
    }

    /// A list with the index that is kept next to it, if there is one and it can be used.
    fn indexed(&self, number: usize, keys: &Keys) -> Option<Exact> {
        let path = &self.lists[number];
        if is_dash(path) || self.how() != How::Lines {
            return None;
        }
        match open_index(path, keys, self.keys.strict).context("its index is not used") {
            Ok(indexed) => indexed.map(|exact| self.numbered(exact, vec![number])),
            Err(error) => {
                let list = name(path);
                let by = match keys.description().is_empty() {
                    true => "",
                    false if keys.are_whole() => {
                        ", with --digest, --trim, --crlf and those for case, if they are given here"
                    }
                    false => {
                        ", with the options that lists have here (-K as -k, --list-csv as --csv)"
                    }
                };
                tell(&format!(
                    "malkoha: {list}: {error:#}: renew it by 'malkoha index {}'{by}",
                    path.display()
                ));
                None
            }
        }
    }

    /// The inputs' lines that are in the lists, if the inputs are so much smaller that it is better
    /// to index them. Then it is not known where lines are listed.
    fn marked(&self, lists: &Side, input: &mut Side) -> Result<Option<Arc<Marked>>> {
        let can_stream = |path: &PathBuf| !is_dash(path) && List::is_readable(path);
        let is_simple = self.how() == How::Lines && self.origin.is_none();
        if !is_simple || !lists.inputs.paths().iter().all(can_stream) {
            return Ok(None);
        }
        let bytes = lists.inputs.total_bytes();
        if bytes.is_none_or(|bytes| bytes >= LONG) {
            let most = bytes.unwrap_or(MOST_FOR_UNKNOWN).min(MOST_FOR_UNKNOWN);
            input.inputs.read_ahead(usize::try_from(most)?);
        }
        let texts = Texts::of(&Side { keys: input.keys.uncounted(), ..input.clone() })?;
        let is_smaller = |texts: &Texts| match bytes {
            Some(bytes) => texts.len().saturating_mul(TIMES) <= bytes,
            None => texts.len() <= MOST_FOR_UNKNOWN,
        };
        let Some(texts) = texts.filter(is_smaller) else { return Ok(None) };
        // Appended lines are in no index.
        input.inputs = input.inputs.clone().up_to(texts.lengths());
        let progress = Progress::new("Reading", bytes);
        let (hasher, threads) = (self.seed.hasher(), self.threads.threads());
        Ok(Some(Marked::of(texts, lists, hasher, threads, &progress)?))
    }
}
