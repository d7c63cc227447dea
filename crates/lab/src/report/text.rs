//! Columns of text, aligned.

use std::fmt;

/// A table with a title and a head; the first column is left-aligned, all others right-aligned.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    title: String,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table with nothing in it yet.
    pub fn new<T: Into<String>>(
        title: impl Into<String>,
        head: impl IntoIterator<Item = T>,
    ) -> Self {
        let head = head.into_iter().map(Into::into).collect();
        Self { title: title.into(), rows: vec![head] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Grid {
    /// Prints nothing if there is no row, and leaves out empty columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((head, rows)) = self.rows.split_first().filter(|(_, rows)| !rows.is_empty())
        else {
            return Ok(());
        };
        let width = |column: usize| {
            let cells = |row: &Vec<String>| row.get(column).map_or(0, |cell| cell.chars().count());
            let widest = rows.iter().map(cells).max().unwrap_or(0);
            if widest == 0 { 0 } else { widest.max(head[column].chars().count()) }
        };
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        writeln!(f, "\n{}", self.title)?;
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                match (column, width) {
                    (_, 0) => {}
                    (0, _) => line += &format!("  {cell:<width$}"),
                    _ => line += &format!("  {cell:>width$}"),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A value to three digits; whole from a hundred on, and empty for `None`.
#[must_use]
pub fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return String::new() };
    match value.abs() {
        99.95.. => format!("{value:.0}"),
        9.995.. => format!("{value:.1}"),
        size if size >= 0.0995 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let mut grid = Grid::new("T", ["name", "empty", "x"]);
        assert_eq!(grid.to_string(), "");
        grid.row(["a".into(), String::new(), number(Some(1.5))]);
        grid.row(["longer".into(), String::new(), number(Some(123.4))]);
        assert_eq!(grid.to_string(), "\nT\n  name       x\n  a       1.50\n  longer   123\n");
    }
}
