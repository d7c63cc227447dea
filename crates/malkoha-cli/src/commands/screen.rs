//! `malkoha screen`: the lines of a stream that are in a list.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::cli::{InputArgs, SeedArgs, SelectArgs, ThreadArgs};
use crate::failure::Outcome;
use crate::input::{List, is_stdin};
use crate::keys::KeyArgs;
use crate::progress::Progress;
use crate::screen::{
    Approximate, Domains, Exact, Networks, StoreKeys, filter_of, list_of_names, print_selected,
};

const AFTER_HELP: &str = "\
Prints the same lines as 'LC_ALL=C grep -aFxf LIST INPUT', in 5 to 7 bytes of
memory a line of LIST. A regular file LIST is mapped, not read, and must not
change meanwhile: if it is cut short, the program is stopped (SIGBUS). A LIST
that is a pipe is kept in memory.

Fields, as -k 2 chooses, are of INPUT; the lines of LIST are compared as
wholes. How they are spelled (--ignore-case, --crlf, --trim) holds for both. A
line that lacks a field has an empty one, and a line on stderr tells how many
there were.

Lines of LIST that --domain or --cidr does not understand are counted on
stderr. Rules of ad blockers are understood if they are for a whole domain and
all requests.

With --approximate only fingerprints of LIST are kept, in about 2 bytes a line;
then RATE of the lines that are not in LIST are taken for lines of it.

Examples:
  malkoha screen --list blocked.txt access.txt       lines that are in the list
  malkoha screen -v --list known.txt < all.txt       lines that are not
  find . -print0 | malkoha screen -0 --list paths.bin
  malkoha screen --csv -k 3 --list emails.txt users.csv
  malkoha screen -v --domain --list hosts.txt visited.txt
  malkoha screen --cidr --list drop.txt -k 1 -t ' ' access.log";

/// Print the lines that are in a list
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// List of lines, or directory of a store, whose keys are the lines; '-' is standard input
    #[arg(short, long)]
    list: PathBuf,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    select: SelectArgs,

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

    /// Find domain names that are in the list or lie below one that is. Lists may be names, hosts
    /// files, '||name^' of ad blockers, or of dnsmasq
    #[arg(long, conflicts_with_all = ["approximate", "cidr"])]
    domain: bool,

    /// Find addresses that lie in networks of the list, as 192.0.2.0/24 or 2001:db8::/32
    #[arg(long, conflicts_with = "approximate")]
    cidr: bool,

    #[command(flatten)]
    keys: KeyArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { list, input, select, seed, threads, approximate, fpr, .. } = arguments;
    let keys = arguments.keys.keys();
    let (inputs, threads) = (input.inputs(), threads.threads());
    if is_stdin(list) && inputs.use_stdin() {
        bail!("list and input are both standard input: name a file for one of them");
    }
    let screening = || Progress::beside_lines("Screening", inputs.total_bytes(), input.quiet);
    if let Some(stored) = StoreKeys::at(list)? {
        if arguments.domain || arguments.cidr {
            bail!("a store has keys, and no domains or networks: name a list of lines");
        }
        if *approximate {
            bail!("a store answers without error: leave --approximate away");
        }
        return print_selected(&inputs, stored, select, keys, threads, &screening());
    }
    let separator = input.separator();
    let (path, list) = (list, List::open(list)?);
    if arguments.cidr {
        let (networks, unread) = Networks::of(&list, separator)?;
        unread.report(path, "networks")?;
        return print_selected(&inputs, networks, select, keys, threads, &screening());
    }
    if arguments.domain {
        let (names, unread) = list_of_names(&list, separator)?;
        unread.report(path, "domains")?;
        drop(list);
        let exact = Exact::build(names, b'\n', seed.hasher(), threads, &Progress::hidden())?;
        return print_selected(&inputs, Domains(exact), select, keys, threads, &screening());
    }
    let list = keys.spell(list, separator)?;
    if *approximate {
        let filter = filter_of(&list, separator, *fpr, seed.hasher())?;
        drop(list);
        print_selected(&inputs, Approximate(Box::new(filter)), select, keys, threads, &screening())
    } else {
        let indexing = Progress::new("Indexing", Some(list.len() as u64), input.quiet);
        let exact = Exact::build(list, separator, seed.hasher(), threads, &indexing)?;
        drop(indexing);
        print_selected(&inputs, exact, select, keys, threads, &screening())
    }
}
