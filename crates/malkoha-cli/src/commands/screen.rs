//! `malkoha screen`: the lines of a stream that are in a list.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use crate::arguments::{InputArgs, PlaceArgs, SeedArgs, SelectArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::input::is_stdin;
use crate::progress::Progress;
use crate::records::{KeyArgs, ListArgs};
use crate::screen::{How, Lists, Selecting, print_selected};

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

    /// Do not find what is in this list, with --domain or --cidr; may be given several times
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

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { lists, input, select, places, seed, threads, .. } = arguments;
    let mut side = places.side(input, &arguments.keys)?;
    let threads = threads.threads();
    let of_stdin = lists.iter().filter(|list| is_stdin(list)).count();
    if of_stdin > 0 && side.inputs.use_stdin() {
        bail!("list and input are both standard input: name a file for one of them");
    }
    if of_stdin > 1 {
        bail!("two lists are both standard input: name a file for one of them");
    }
    let how = match arguments {
        Arguments { domain: true, .. } => How::Domains,
        Arguments { cidr: true, .. } => How::Networks,
        Arguments { approximate: true, fpr, .. } => How::Approximately(*fpr),
        _ => How::Lines,
    };
    let allows = !arguments.allow.is_empty();
    let has_syntax = matches!(how, How::Domains | How::Networks);
    let keys = arguments.list_keys.keys(&arguments.keys, side.separator(), has_syntax)?;
    if arguments.list_keys.are_several() {
        side.keys = side.keys.joined(true);
    }
    if allows && !has_syntax {
        bail!("--allow has domains or networks: add --domain or --cidr");
    }
    if has_syntax {
        side.inputs = side.inputs.numbered(true);
    }
    let with_origins = arguments.origin.is_some();
    let lists = Lists {
        paths: lists,
        allowed: &arguments.allow,
        how,
        with_origins,
        keys: &keys,
        strict: arguments.keys.strict,
        hasher: seed.hasher(),
        threads,
    };
    let matcher = lists.matcher(&mut side)?;
    let lists = with_origins.then_some(lists.paths);
    let total = side.inputs.total_bytes();
    let screening = Progress::beside_lines("Screening", total);
    let selecting = Selecting { select, places, lists, known: None };
    print_selected(&side, matcher, selecting, threads, &screening)
}
