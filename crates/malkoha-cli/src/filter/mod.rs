//! Filters in files: every kind to look lines up in, and to be made and changed.

mod contents;
mod facts;
mod file;
mod lookup;
mod pair;

pub(crate) use contents::{Item, Lines, Table, insert};
pub(crate) use facts::{Facts, Window, figures};
pub(crate) use file::{FilterFile, Task};
pub(crate) use lookup::{Lookup, open, open_verified};
pub(crate) use pair::bits_of;
