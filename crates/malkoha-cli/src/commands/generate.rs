//! `malkoha completions` and `malkoha man`: files that packages install with the command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, roman};

use crate::failure::{CANNOT_WRITE, Outcome};
use crate::input::name;
use crate::output::stdout;

const AFTER_COMPLETIONS: &str = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  malkoha completions bash > ~/.local/share/bash-completion/completions/malkoha
  malkoha completions fish > ~/.config/fish/completions/malkoha.fish";

/// Print a shell's completion script
#[derive(Args, Debug)]
#[command(after_help = AFTER_COMPLETIONS)]
pub(crate) struct Completions {
    /// Shell to complete in
    shell: Shell,
}

/// Print a manual page, or install all of them
#[derive(Args, Debug)]
#[command(after_help = include_str!("man.txt"))]
pub(crate) struct Man {
    /// Command whose page to print; without it, the page of malkoha itself
    command: Vec<String>,

    /// Write all pages and completions below this directory
    #[arg(long, value_name = "PREFIX", conflicts_with = "command")]
    install: Option<PathBuf>,
}

pub(crate) fn completions(Completions { shell }: &Completions, root: Command) -> Result<Outcome> {
    print(&script(*shell, root))
}

/// Rendered in memory: the generator panics when its writer fails.
fn script(shell: Shell, mut root: Command) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut root, "malkoha", &mut script);
    script
}

pub(crate) fn man(Man { command, install }: &Man, root: Command) -> Result<Outcome> {
    if let Some(prefix) = install {
        install_completions(prefix, &root)?;
    }
    // `help` has no page of its own: it prints those of others.
    let mut root = root.disable_help_subcommand(true);
    root.build();
    if let Some(prefix) = install {
        return install_pages(prefix, &root);
    }
    let mut found = &root;
    for name in command {
        match found.find_subcommand(name) {
            Some(subcommand) => found = subcommand,
            None => bail!("there is no command '{}': see malkoha --help", command.join(" ")),
        }
    }
    print(&page(found)?)
}

fn install_pages(prefix: &Path, root: &Command) -> Result<Outcome> {
    let pages = prefix.join("share/man/man1");
    let mut commands = vec![root];
    while let Some(command) = commands.pop() {
        let name = command.get_display_name().unwrap_or(command.get_name());
        write(&pages.join(format!("{name}.1")), &page(command)?)?;
        commands.extend(command.get_subcommands());
    }
    Ok(Outcome::Found)
}

fn install_completions(prefix: &Path, root: &Command) -> Result<()> {
    for (shell, path) in [
        (Shell::Bash, "share/bash-completion/completions/malkoha"),
        (Shell::Zsh, "share/zsh/site-functions/_malkoha"),
        (Shell::Fish, "share/fish/vendor_completions.d/malkoha.fish"),
    ] {
        write(&prefix.join(path), &script(shell, root.clone()))?;
    }
    Ok(())
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", name(path));
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).with_context(failed)?;
    fs::write(path, text).with_context(failed)
}

const EXIT_STATUS: [&str; 3] = [
    "0: something was found, or it is done.",
    "1: nothing was found.",
    "2: an error, reported on standard error; or an input could not be read and was passed over.",
];

/// A manual page. The end of the help text becomes NOTES and EXAMPLES.
fn page(command: &Command) -> Result<Vec<u8>> {
    let man = Page::new(command.clone());
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = match help.split_once("Examples:\n").or(help.split_once("Example:\n")) {
        Some((notes, examples)) => (notes.trim_end(), examples),
        None => (help.as_str(), ""),
    };
    let mut roff = Roff::default();
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
        for line in notes.lines() {
            if line.is_empty() {
                roff.control("PP", []);
            } else {
                roff.text([roman(line)]);
            }
        }
    }
    roff.control("SH", ["EXIT STATUS"]);
    for line in EXIT_STATUS {
        roff.control("PP", []);
        roff.text([roman(line)]);
    }
    if !examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]);
        roff.control("nf", []);
        for line in examples.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.to_writer(&mut text)?;
    Ok(text)
}

fn print(mut bytes: &[u8]) -> Result<Outcome> {
    stdout::is_open()?;
    io::copy(&mut bytes, &mut io::stdout()).context(CANNOT_WRITE)?;
    Ok(Outcome::Found)
}
