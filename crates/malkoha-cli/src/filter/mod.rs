//! Filters in files: every kind to look lines up in, and to be made and changed.

mod contents;
mod file;
mod lookup;
mod members;
mod pair;
mod values;

pub(crate) use contents::{Contents, Item};
pub(crate) use file::{FilterFile, lock};
pub(crate) use lookup::Lookup;
pub(crate) use members::Members;
pub(crate) use pair::{WrongLine, bits_of};
pub(crate) use values::Values;
