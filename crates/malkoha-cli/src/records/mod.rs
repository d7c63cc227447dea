//! Records, and their compared parts, for lists and input alike.
//!
//! ```text
//! bytes --Form--> records --Keys--> keys, and records that no key can be got from
//! ```
//!
//! This room knows bytes: files belong to `input`.

mod added;
mod batch;
mod blocks;
mod csv;
mod digest;
pub(crate) mod domains;
mod fields;
mod form;
mod hashed;
mod hints;
mod indexed;
mod json;
mod keys;
pub(crate) mod networks;
mod options;
pub(crate) mod range;
mod ranges;
mod spelling;
mod split;
mod tally;
mod unfit;
mod words;

pub(crate) use added::Added;
pub(crate) use batch::{Batch, Source};
pub(crate) use form::Form;
pub(crate) use hashed::Hashed;
pub(crate) use hints::{Candidate, EachFound, Forms, tell_difference};
pub(crate) use indexed::Bytes;
pub(crate) use keys::Keys;
pub(crate) use options::{KeyArgs, ListArgs};
pub(crate) use split::{BATCH, split};
pub(crate) use tally::{Tally, shown, tell};
pub(crate) use unfit::Unfit;
pub(crate) use words::{CHUNK, equal, is_lowered, is_name, lower, word_before};
