//! `malkoha completions` and `malkoha man`: what packages install beside the command.

use std::io;

use anyhow::{Context, Result, bail};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man as Page;

use crate::cli::Cli;
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::output::stdout;

const AFTER_COMPLETIONS: &str = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  malkoha completions bash > ~/.local/share/bash-completion/completions/malkoha
  malkoha completions fish > ~/.config/fish/completions/malkoha.fish";

const AFTER_MAN: &str = "\
Examples:
  malkoha man screen | man -l -
  malkoha man > malkoha.1";

/// Print a shell's completion script
#[derive(Args, Debug)]
#[command(after_help = AFTER_COMPLETIONS)]
pub(crate) struct Completions {
    /// Shell to complete in
    shell: Shell,
}

/// Print a manual page
#[derive(Args, Debug)]
#[command(after_help = AFTER_MAN)]
pub(crate) struct Man {
    /// Command to print the page of; without it, that of malkoha itself
    command: Option<String>,
}

pub(crate) fn completions(Completions { shell }: &Completions) -> Result<Outcome> {
    // Rendered in memory: the generator panics when its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut Cli::command(), "malkoha", &mut script);
    print(&script)
}

pub(crate) fn man(Man { command }: &Man) -> Result<Outcome> {
    let mut root = Cli::command();
    root.build();
    let page = match command {
        None => Page::new(root),
        Some(name) => match root.find_subcommand(name) {
            Some(found) => Page::new(found.clone()),
            None => bail!("there is no command '{name}': see malkoha --help"),
        },
    };
    let mut text = Vec::new();
    page.render(&mut text)?;
    print(&text)
}

fn print(mut bytes: &[u8]) -> Result<Outcome> {
    stdout::is_open().context(CANNOT_WRITE)?;
    io::copy(&mut bytes, &mut io::stdout()).context(CANNOT_WRITE)?;
    Ok(Outcome::Found)
}
