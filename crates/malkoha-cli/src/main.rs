//! The command `malkoha`: screens, filters and thins out lines with cuckoo filters.

mod arguments;
mod commands;
mod failure;
mod filter;
mod input;
mod keys;
mod output;
mod pipeline;
mod progress;
#[cfg(feature = "remote")]
mod remote;
mod screen;
mod time;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::Cli::try_parse() {
        Ok(cli) => match commands::run(cli.command) {
            Ok(outcome) => {
                keys::tell_of_missing();
                failure::code(outcome)
            }
            Err(error) => failure::report(&error),
        },
        Err(error) => failure::report_usage(&error),
    }
}
