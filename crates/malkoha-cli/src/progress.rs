//! A progress bar on stderr, for people only.

use std::io::{IsTerminal, stderr, stdout};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::failure::is_quiet;

/// How far the reading of the input has come.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// No bar at all.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden() }
    }

    /// A bar for a command that does not print to stdout, shown only when stderr is a terminal.
    pub(crate) fn new(what: &'static str, total_bytes: Option<u64>) -> Self {
        if is_quiet() || !stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = match total_bytes {
            Some(total) => ProgressBar::new(total)
                .with_style(style("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}")),
            None => ProgressBar::new_spinner()
                .with_style(style("{spinner} {msg} {bytes} {bytes_per_sec}")),
        };
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    /// A bar for a command that prints lines: not on a terminal that shows those lines.
    pub(crate) fn unless_terminal(what: &'static str, total_bytes: Option<u64>) -> Self {
        if stdout().is_terminal() { Self::hidden() } else { Self::new(what, total_bytes) }
    }

    /// A handle that counts bytes, for another thread.
    pub(crate) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    pub(crate) fn advance(&self, bytes: usize) {
        self.bar.inc(bytes as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates in this file are valid")
}
