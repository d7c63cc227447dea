//! The values that an experiment finds.

use serde::{Deserialize, Serialize};

/// One cell of a table, or one point of a plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The column of a table, or the panel of a plot.
    pub group: String,
    /// The row of a table, or the line of a plot.
    pub series: String,
    /// Where on the horizontal axis; 0 in a table.
    pub x: f64,
    /// The value found.
    pub y: f64,
    /// The value in the paper's text, if it has one.
    pub paper: Option<f64>,
}

impl Value {
    /// A point.
    #[must_use]
    pub fn point(group: &str, series: &str, x: f64, y: f64) -> Self {
        Self { group: group.to_owned(), series: series.to_owned(), x, y, paper: None }
    }

    /// A cell, with the paper's.
    #[must_use]
    pub fn cell(column: &str, row: &str, y: f64, paper: Option<f64>) -> Self {
        Self { paper, ..Self::point(column, row, 0.0, y) }
    }
}
