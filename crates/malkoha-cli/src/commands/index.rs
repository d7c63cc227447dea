//! `malkoha index`: an index of a list, kept for later screenings.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use indicatif::{HumanBytes, HumanCount};

use crate::arguments::ThreadArgs;
use crate::failure::{Outcome, tell_summary};
use crate::input::is_dash;
use crate::output::{Overwrite, replace};
use crate::progress::Progress;
use crate::records::KeyArgs;
use crate::screen::{Keeping, is_index, place_of_index};

/// Write an index next to a list
#[derive(Args, Debug)]
#[command(after_help = include_str!("index.txt"))]
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
        if is_dash(list) {
            bail!("an index is written next to a file: name it");
        }
        let keeping = Keeping::of(list, &keys, arguments.threads.threads(), |bytes| {
            Progress::new("Indexing", Some(bytes))
        })?;
        let map = keeping.map()?;
        let index = place_of_index(list);
        replace(&index, Overwrite::Only(is_index), &|out| keeping.write(out))?;
        tell_summary(&format!(
            "{}: {} distinct lines in {}",
            index.display(),
            HumanCount(map.len()),
            HumanBytes(map.size_in_bytes()),
        ));
    }
    Ok(Outcome::Found)
}
