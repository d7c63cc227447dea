//! How the command ends: grep's exit codes, and one clear line on stderr per error.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::error::ErrorKind;

/// The result of a successful command, which its exit code reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Found,
    /// Exit code 1: no error, but nothing was found.
    Nothing,
}

impl Outcome {
    pub(crate) fn found_if(found: bool) -> Self {
        if found { Self::Found } else { Self::Nothing }
    }
}

const FAILED: u8 = 2;

/// Context of every error in writing results.
pub(crate) const CANNOT_WRITE: &str = "cannot write to standard output";

/// Reports an error. A reader that has read enough (`| head`) is not one.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    warn(error);
    ExitCode::from(FAILED)
}

/// Reports an error and ends the process.
pub(crate) fn end(error: &anyhow::Error) -> ! {
    report(error);
    std::process::exit(if is_broken_pipe(error) { 0 } else { FAILED.into() })
}

/// Reports an error; the command may continue.
pub(crate) fn warn(error: &anyhow::Error) {
    tell(&format!("malkoha: {}", one_line(&with_causes(error))));
}

/// Reports an input that cannot be read; the others still are.
pub(crate) fn pass_over(error: &anyhow::Error) {
    warn(error);
    PASSED_OVER.store(true, Ordering::Relaxed);
}

/// Whether an input was skipped.
static PASSED_OVER: AtomicBool = AtomicBool::new(false);

/// The exit code of a command that ran to its end.
pub(crate) fn code(outcome: Outcome) -> ExitCode {
    match outcome {
        _ if PASSED_OVER.load(Ordering::Relaxed) => ExitCode::from(FAILED),
        Outcome::Found => ExitCode::SUCCESS,
        Outcome::Nothing => ExitCode::from(1),
    }
}

/// Reports what the argument parser found: help and version as they are, errors in one line.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match error.print() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(&anyhow::Error::new(error).context(CANNOT_WRITE)),
        };
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        tell(error.render().to_string().trim_end());
        return ExitCode::from(FAILED);
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    // Drops the usage that follows the message, which --help prints; a tip stays.
    let parts: Vec<String> = text
        .split("\n\n")
        .enumerate()
        .filter(|(i, part)| *i == 0 || part.trim_start().starts_with("tip:"))
        .map(|(_, part)| one_line(part))
        .collect();
    tell(&format!("malkoha: {} (see malkoha --help)", parts.join("; ")));
    ExitCode::from(FAILED)
}

/// Whether people want results and errors alone.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, shows no progress and no summaries.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a line about what was done to stderr.
pub(crate) fn tell_summary(line: &str) {
    if !is_quiet() {
        tell(line);
    }
}

/// Writes a line to stderr. An error in doing so is ignored: there is nowhere to report it.
pub(crate) fn tell(line: &str) {
    // At once, so that lines of several processes do not mix.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// The error and its causes, except those that its own text names.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |text, cause| match cause.to_string() {
        cause if text.contains(&cause) => text,
        cause => format!("{text}: {cause}"),
    })
}

/// The text without line breaks, and without the error numbers that Rust appends.
fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(start) = line.find(" (os error ") {
        let Some(length) = line[start..].find(')') else { break };
        line.replace_range(start..=start + length, "");
    }
    line
}
