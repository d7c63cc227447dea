//! The list of commands. Each has its arguments, its help and its work in a file of its own.

mod build;
mod check;
mod count;
mod dedup;
mod documents;
mod domains;
mod edit;
mod generate;
mod get;
mod index;
mod info;
mod networks;
mod new;
mod overlap;
mod plan;
#[cfg(feature = "remote")]
mod remote;
mod screen;
mod sets;
mod store;
mod trace;
mod union;
mod uniq;
mod verify;

mod first;
mod items;
mod keeping;
mod window;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::failure::Outcome;

const ABOUT: &str = "Screen lines against huge lists, in a few bytes per line";

const AFTER_HELP: &str = "\
Lines are bytes: no encoding is assumed, and CR is an ordinary byte. The last
line needs no terminator. INPUT '-', or no INPUT, is standard input.

Exit codes: 0 something was found or done; 1 nothing was; 2 an error, with a
message on stderr.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "malkoha", version, about = ABOUT, after_help = AFTER_HELP)]
#[command(max_term_width = 80)]
pub(crate) struct Cli {
    /// Show no progress bar and no summary
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Screen(screen::Arguments),
    Index(index::Arguments),
    Uniq(uniq::Arguments),
    Dedup(dedup::Arguments),
    Overlap(overlap::Arguments),
    New(new::Arguments),
    Build(build::Arguments),
    Check(check::Arguments),
    Count(count::Arguments),
    Get(get::Arguments),
    Add(edit::Add),
    Remove(edit::Remove),
    Union(union::Arguments),
    Domains(domains::Arguments),
    Networks(networks::Arguments),
    Intersect(sets::Intersect),
    Diff(sets::Diff),
    Info(info::Arguments),
    Verify(verify::Arguments),
    Plan(plan::Arguments),
    Trace(trace::Arguments),
    Store(store::Arguments),
    #[cfg(feature = "remote")]
    Remote(remote::Arguments),
    Completions(generate::Completions),
    Man(generate::Man),
}

pub(crate) fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::Screen(arguments) => screen::run(&arguments),
        Command::Index(arguments) => index::run(&arguments),
        Command::Uniq(arguments) => uniq::run(&arguments),
        Command::Dedup(arguments) => dedup::run(&arguments),
        Command::Overlap(arguments) => overlap::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Build(arguments) => build::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Count(arguments) => count::run(&arguments),
        Command::Get(arguments) => get::run(&arguments),
        Command::Add(arguments) => edit::add(&arguments),
        Command::Remove(arguments) => edit::remove(&arguments),
        Command::Union(arguments) => union::run(&arguments),
        Command::Domains(arguments) => domains::run(&arguments),
        Command::Networks(arguments) => networks::run(&arguments),
        Command::Intersect(arguments) => sets::intersect(&arguments),
        Command::Diff(arguments) => sets::diff(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Store(arguments) => store::run(&arguments),
        #[cfg(feature = "remote")]
        Command::Remote(arguments) => remote::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Completions(arguments) => generate::completions(&arguments, Cli::command()),
        Command::Man(arguments) => generate::man(&arguments, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
