//! Filters in files: every kind to look lines up in, sets also to be changed.

mod editable;
mod lookup;
mod members;

pub(crate) use editable::{Editable, lock};
pub(crate) use lookup::Lookup;
pub(crate) use members::Members;
