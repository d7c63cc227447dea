//! Why records are not equal: their file has another form, or they are written in another way.

mod differ;
mod forms;
mod looks;
mod misread;
mod proof;

pub(crate) use differ::tell_difference;
pub(crate) use forms::Forms;
pub(crate) use proof::Candidate;
