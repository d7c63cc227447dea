//! Why nothing, or not all, was equal: files of another form, and records that are written otherwise.

mod differ;
mod forms;
mod looks;
mod misread;
mod proof;

pub(crate) use differ::tell_difference;
pub(crate) use forms::Forms;
pub(crate) use proof::Candidate;
