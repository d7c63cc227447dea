//! Where results go: lines to standard output, filters to files that appear whole or not at all.

mod atomic;
mod lines;

pub(crate) use atomic::{Overwrite, replace};
pub(crate) use lines::LineWriter;

/// Says something to the user, on stderr. If that cannot be written there is nobody to tell.
pub(crate) fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}
