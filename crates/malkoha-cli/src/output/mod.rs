//! Where results go: lines to standard output, filters to files that appear whole or not at all.

mod atomic;
mod lines;
mod pages;

pub(crate) use atomic::{Overwrite, replace};
pub(crate) use lines::LineWriter;
pub(crate) use pages::{Page, Printed, Printer};

/// Says something to the user, on stderr. If that cannot be written there is nobody to tell.
pub(crate) fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}
