//! Results for people (tables) and for programs (CSV, JSON).

mod files;
mod ratios;
mod tables;
mod text;

pub use files::{Report, read_csv};
pub use ratios::{against, gains};
pub use tables::tables;
pub use text::{Grid, number};
