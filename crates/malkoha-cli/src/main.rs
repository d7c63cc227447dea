//! The command `malkoha`: screens, filters and thins out lines with cuckoo filters.

mod arguments;
mod commands;
mod failure;
mod filter;
mod input;
mod output;
mod pipeline;
mod progress;
mod records;
#[cfg(feature = "remote")]
mod remote;
mod screen;
mod time;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::Cli::try_parse() {
        Ok(cli) => {
            if cli.quiet {
                failure::be_quiet();
            }
            let outcome = commands::run(cli.command);
            records::tell();
            outcome.map_or_else(|error| failure::report(&error), failure::code)
        }
        Err(error) => failure::report_usage(&error),
    }
}
