//! Results for people (tables) and for programs (CSV).

mod files;
mod text;

pub use files::{Report, read_csv, write_csv};
pub use text::{Grid, number};
