//! `malkoha index`: an index of a list that stays, for screenings to come.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};

use crate::cli::ThreadArgs;
use crate::failure::Outcome;
use crate::input::is_stdin;
use crate::output::{Overwrite, replace_with, tell};
use crate::progress::Progress;
use crate::screen::{Keeping, place_of_index};

const AFTER_HELP: &str = "\
The index of LIST is written beside it, as LIST.mlx, and takes 5 to 7 bytes a
line. 'malkoha screen' finds it by its name and maps it: then only the input is
read, and of the list what lies where the input's lines may be. The list stays
needed.

It is used if the list has the size and the times that it had, or else if its
checksum is the same; if not, a line on stderr says so, and the list is indexed
anew for this one time. It is not used with --approximate, --domain, --cidr,
--ignore-case, --crlf and --trim. 'malkoha verify LIST.mlx' compares all of it
with its checksums. A list that was changed in the last two seconds is waited
for.

LIST must be a plain file, not compressed. The index has the key of a hash in
it: show it to nobody who chooses lines.

Exit code 0 if all were written; 2 if not.

Examples:
  malkoha index blocked.txt
  malkoha screen --list blocked.txt today.log        only today.log is read";

/// Keep the index of a list beside it
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Lists of lines
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<PathBuf>,

    /// Lines end with a NUL byte, not with a newline
    #[arg(short = '0', long = "null")]
    null: bool,

    /// Show no progress bar and no summary
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    threads: ThreadArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let separator = if arguments.null { 0 } else { b'\n' };
    for list in &arguments.lists {
        if is_stdin(list) {
            bail!("an index is kept beside a file: name it");
        }
        let keeping = Keeping::of(list, separator, arguments.threads.threads(), |bytes| {
            Progress::new("Indexing", Some(bytes), arguments.quiet)
        })?;
        let map = keeping.map()?;
        let index = place_of_index(list);
        replace_with(&index, Overwrite::Indexes, &|out| keeping.write(out))?;
        if !arguments.quiet {
            tell(&format!(
                "{}: {} distinct lines in {}",
                index.display(),
                HumanCount(map.len()),
                HumanBytes(map.size_in_bytes()),
            ));
        }
    }
    Ok(Outcome::Found)
}
