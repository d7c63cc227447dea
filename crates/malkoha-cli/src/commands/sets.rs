//! `malkoha intersect` and `malkoha diff`, and what they share with `malkoha union`: files of lines
//! as sets.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::arguments::ThreadArgs;
use crate::failure::Outcome;
use crate::input::{Inputs, Side, at_most_one_stdin, name};
use crate::output::{LineWriter, is_filter};
use crate::progress::Progress;
use crate::records::{KeyArgs, Keys, ListArgs};
use crate::screen::{Operation, operate};

/// Files of lines, and how they are read.
#[derive(Args, Debug)]
pub(super) struct LinesArgs {
    /// Files, two or more; '-' is standard input
    #[arg(value_name = "FILE", required = true, num_args = 2..)]
    pub(super) files: Vec<PathBuf>,

    /// Lines end with a NUL byte instead of a newline, in input and output
    #[arg(short = '0', long = "null")]
    null: bool,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(flatten)]
    keys: KeyArgs,
}

/// Print the lines of a file that are in all others
#[derive(Args, Debug)]
#[command(after_help = include_str!("intersect.txt"))]
pub(crate) struct Intersect {
    #[command(flatten)]
    lines: LinesArgs,

    #[command(flatten)]
    others: ListArgs,
}

/// Print the lines of a file that are in no other
#[derive(Args, Debug)]
#[command(after_help = include_str!("diff.txt"))]
pub(crate) struct Diff {
    #[command(flatten)]
    lines: LinesArgs,

    #[command(flatten)]
    others: ListArgs,
}

pub(crate) fn intersect(arguments: &Intersect) -> Result<Outcome> {
    arguments.lines.print(Operation::Intersection, Some(&arguments.others))
}

pub(crate) fn diff(arguments: &Diff) -> Result<Outcome> {
    arguments.lines.print(Operation::Difference, Some(&arguments.others))
}

impl LinesArgs {
    /// Prints the result of an operation on files of lines. The others than the first can be read
    /// otherwise.
    pub(super) fn print(&self, operation: Operation, others: Option<&ListArgs>) -> Result<Outcome> {
        at_most_one_stdin(self.files.iter())?;
        if operation == Operation::Union
            && let Some(filter) = self.files.iter().find(|path| is_filter(path))
        {
            bail!("{} is a filter file: name one to write with --output", name(filter));
        }
        let separator = if self.null { 0 } else { b'\n' };
        let keys = self.keys.keys(separator)?;
        let list_keys = match others.filter(|others| others.is_given() || self.keys.has_digest()) {
            Some(others) => others.keys(&self.keys, separator, false)?,
            None => keys.clone(),
        };
        let are_several = others.is_some_and(ListArgs::are_several);
        let keys = if are_several { keys.joined(true) } else { keys };
        let side = |files: &[PathBuf], keys: &Keys, of_lists| {
            let inputs = Inputs::of_files(files.to_vec(), separator).all_needed();
            Side::new(inputs, keys.clone(), of_lists, self.keys.strict)
        };
        let (first, rest) =
            self.files.split_at(if operation == Operation::Union { self.files.len() } else { 1 });
        let others: Vec<Side> =
            rest.iter().map(|file| side(std::slice::from_ref(file), &list_keys, true)).collect();
        let first = side(first, &keys, false);
        let mut out = LineWriter::stdout(separator, false)?;
        let progress = Progress::unless_terminal("Reading", None);
        let (mut printed, threads) = (0_u64, self.threads.threads());
        operate(operation, &first, &others, threads, &progress, |line, header_of| {
            printed += u64::from(header_of.is_none());
            match header_of {
                Some(file) => out.head(line, file),
                None => out.write(line),
            }
        })?;
        out.finish()?;
        Ok(Outcome::found_if(printed > 0))
    }
}
