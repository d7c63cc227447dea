//! Where results go: lines to standard output, filters to files that appear whole or not at all.

mod atomic;
mod lines;

pub(crate) use atomic::{Overwrite, replace};
pub(crate) use lines::LineWriter;
