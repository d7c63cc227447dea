//! `malkoha index`: an index of a list, kept for later screenings.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};

use crate::arguments::ThreadArgs;
use crate::failure::{Outcome, tell_summary};
use crate::input::is_stdin;
use crate::output::{Overwrite, replace_with};
use crate::progress::Progress;
use crate::records::KeyArgs;
use crate::screen::{Keeping, is_index, place_of_index};

const AFTER_HELP: &str = "\
Writes the index of LIST beside it, as LIST.mlx, with 5 to 7 bytes per line.
'malkoha screen' finds the index by its name and maps it. It then reads only
the input, and those places of the list where input lines may be. Keep the
list: it is still needed.

The index is used if the list has the same size and times as before, or else if
its checksum is the same. Otherwise a line on stderr says so, and the list is
indexed again for this run. Options like -k 1 index fields of LIST, for screens
with -K 1 and the same delimiter, format and spelling. The index is not used
with --approximate, --domain or --cidr. 'malkoha verify LIST.mlx' compares all
of it with its checksums. If the list was changed in the last two seconds, the
command waits.

LIST must be a plain file, not compressed. The index contains the key of a
hash: do not show it to anybody who chooses lines.

Exit code 0 if all indexes were written, else 2.

Examples:
  malkoha index blocked.txt
  malkoha screen --list blocked.txt today.log        only today.log is read
  malkoha index --digest sha1 -k 1 -t : pwned.txt
  malkoha screen --digest sha1 -K 1 --list-delimiter : -f pwned.txt passwords";

/// Keep the index of a list beside it
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Lists of lines
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,

    /// Lines end with a NUL byte instead of a newline
    #[arg(short = '0', long = "null")]
    null: bool,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let separator = if arguments.null { 0 } else { b'\n' };
    let keys = arguments.keys.keys_of_list(separator)?;
    for list in &arguments.lists {
        if is_stdin(list) {
            bail!("an index is kept beside a file: name it");
        }
        let keeping = Keeping::of(list, &keys, arguments.threads.threads(), |bytes| {
            Progress::new("Indexing", Some(bytes))
        })?;
        let map = keeping.map()?;
        let index = place_of_index(list);
        replace_with(&index, Overwrite::Only(is_index), &|out| keeping.write(out))?;
        tell_summary(&format!(
            "{}: {} distinct lines in {}",
            index.display(),
            HumanCount(map.len()),
            HumanBytes(map.size_in_bytes()),
        ));
    }
    Ok(Outcome::Found)
}
