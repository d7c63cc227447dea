//! Why records are not equal: their file has another form, or they are written in another way.

mod differ;
mod fields;
mod forms;
mod found;
mod looks;
mod misread;
mod proof;
mod without;

pub(crate) use differ::tell_difference;
pub(crate) use forms::Forms;
pub(crate) use proof::{Candidate, EachFound};
