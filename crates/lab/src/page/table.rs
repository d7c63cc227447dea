//! Tables of the report.

use crate::paper::values::Value;
use crate::report::number;
use crate::results::distinct;

/// A table with a caption; the first column heads the rows.
#[derive(Clone)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of the paper: rows are series, columns are groups, and the paper's own figure stands
    /// in brackets.
    pub(super) fn of_cells(caption: &str, values: &[Value]) -> Self {
        let columns = distinct(values.iter().map(|value| value.group.as_str()));
        let rows = distinct(values.iter().map(|value| value.series.as_str()));
        let cell = |row: &str, column: &str| {
            let mut column = values.iter().filter(|value| value.group == column);
            let counts = column.clone().all(|value| value.y.fract() == 0.0);
            let found = column.find(|value| value.series == row);
            found.map_or_else(|| "–".to_owned(), |value| text(value, counts))
        };
        Self {
            caption: caption.to_owned(),
            head: head("", &columns),
            rows: rows
                .iter()
                .map(|row| {
                    let cells = columns.iter().map(|column| cell(row, column));
                    std::iter::once((*row).to_owned()).chain(cells).collect()
                })
                .collect(),
        }
    }
}

fn head(first: &str, others: &[&str]) -> Vec<String> {
    std::iter::once(first).chain(others.iter().copied()).map(str::to_owned).collect()
}

/// Ours, and the paper's in brackets. Counts have no decimals.
fn text(value: &Value, counts: bool) -> String {
    if value.group == "deletes" {
        return if value.y > 0.0 { "yes" } else { "no" }.to_owned();
    }
    let digits = |value: f64| match value {
        whole if whole == 0.0 || counts && whole.fract() == 0.0 => whole.to_string(),
        small if small < 0.995 => format!("{small:.3}"),
        _ => number(Some(value)),
    };
    let ours = digits(value.y);
    value.paper.map_or(ours.clone(), |paper| format!("{ours} ({})", digits(paper)))
}
