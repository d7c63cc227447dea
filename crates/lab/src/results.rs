//! Measured values, run by run, and the tables that are made of them.

use serde::{Deserialize, Serialize};

use crate::measure::median;
use crate::report::{Grid, number};

/// Unit of counts of defects, of which tables show the worst run and no ratio.
pub const FAULTS: &str = "keys";
/// Million keys per second.
pub const RATE: &str = "M/s";

/// A line of a result file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// A filter with its settings, or the memory of a table of that size.
    pub contender: String,
    /// Keys in the filter.
    pub keys: u64,
    /// Name of the measure.
    pub measure: String,
    /// Unit of the values.
    pub unit: String,
    /// Median of the runs.
    pub median: f64,
    /// Least value of the runs.
    pub least: f64,
    /// Greatest value of the runs.
    pub greatest: f64,
    /// Number of runs.
    pub runs: usize,
}

/// Values by contender, keys, measure and unit, in the order in which they came: one per run.
#[derive(Clone, Debug, Default)]
pub struct Figures(Vec<Figure>);

#[derive(Clone, Debug)]
struct Figure {
    contender: String,
    keys: u64,
    measure: String,
    unit: String,
    values: Vec<f64>,
}

impl Figure {
    fn row(&self) -> Row {
        Row {
            contender: self.contender.clone(),
            keys: self.keys,
            measure: self.measure.clone(),
            unit: self.unit.clone(),
            median: median(&self.values).unwrap_or(f64::NAN),
            least: self.values.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            runs: self.values.len(),
        }
    }

    /// As a table shows it.
    fn cell(&self) -> String {
        let row = self.row();
        number(Some(if row.unit == FAULTS { row.greatest } else { row.median }))
    }

    fn is_of(&self, contender: &str, measure: &str) -> bool {
        self.contender == contender && self.measure == measure
    }
}

impl Figures {
    /// Adds one run's value.
    pub fn add(&mut self, contender: &str, keys: u64, measure: &str, unit: &str, value: f64) {
        let same =
            |it: &&mut Figure| it.is_of(contender, measure) && it.keys == keys && it.unit == unit;
        if let Some(figure) = self.0.iter_mut().find(same) {
            return figure.values.push(value);
        }
        let [contender, measure, unit] = [contender, measure, unit].map(str::to_owned);
        self.0.push(Figure { contender, keys, measure, unit, values: vec![value] });
    }

    /// The values of all runs, if there are any.
    #[must_use]
    pub fn runs(&self, contender: &str, measure: &str) -> &[f64] {
        let found = self.0.iter().find(|it| it.is_of(contender, measure));
        found.map_or(&[], |it| &it.values)
    }

    /// Adds the runs of the fastest of some measures, under another name, for all contenders.
    pub fn add_fastest(&mut self, name: &str, measures: &[String]) {
        for contender in distinct(self.0.iter().map(|it| it.contender.clone())) {
            let of = |it: &&Figure| it.contender == contender && measures.contains(&it.measure);
            let middle = |it: &Figure| median(&it.values).unwrap_or(0.0);
            let all = self.0.iter().filter(of);
            let Some(fastest) = all.max_by(|a, b| middle(a).total_cmp(&middle(b))) else {
                continue;
            };
            self.0.push(Figure { measure: name.to_owned(), ..fastest.clone() });
        }
    }

    /// A line for each figure.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        self.0.iter().map(Figure::row).collect()
    }

    /// A line for each measure, a column for each contender.
    #[must_use]
    pub fn by_measure(&self, title: &str) -> Grid {
        let contenders = distinct(self.0.iter().map(|it| &*it.contender));
        let mut grid = Grid::new(title, [""].into_iter().chain(contenders.iter().copied()));
        for (measure, unit) in distinct(self.0.iter().map(|it| (&*it.measure, &*it.unit))) {
            let cell = |contender: &&str| {
                let found =
                    self.0.iter().find(|it| it.is_of(contender, measure) && it.unit == unit);
                found.map_or(String::new(), Figure::cell)
            };
            let name = format!("{measure}, {unit}");
            grid.row([name].into_iter().chain(contenders.iter().map(cell)));
        }
        grid
    }

    /// How many times as much as each other contender the first one has: a line for each measure.
    /// Each ratio is the median of the ratios within a run, which stay valid on a machine whose
    /// speed drifts.
    #[must_use]
    pub fn ratios(&self) -> Grid {
        let contenders = distinct(self.0.iter().map(|it| &*it.contender));
        let Some((&first, others)) = contenders.split_first() else { return Grid::default() };
        let title = format!("{first} over the others");
        let mut grid = Grid::new(title, [""].into_iter().chain(others.iter().copied()));
        for it in self.0.iter().filter(|it| it.contender == first && it.unit != FAULTS) {
            let cell = |other: &&str| {
                let pairs = it.values.iter().zip(self.runs(other, &it.measure));
                number(median(&pairs.map(|(ours, theirs)| ours / theirs).collect::<Vec<f64>>()))
            };
            let cells: Vec<String> = others.iter().map(cell).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                grid.row([it.measure.clone()].into_iter().chain(cells));
            }
        }
        grid
    }

    /// Some measures: a line for each size of each contender.
    #[must_use]
    pub fn by_size(&self, title: &str, measures: &[impl AsRef<str>]) -> Grid {
        let is_asked = |it: &&Figure| measures.iter().any(|name| name.as_ref() == it.measure);
        let asked = || self.0.iter().filter(is_asked);
        let mut lines = distinct(asked().map(|it| (it.keys, &*it.contender)));
        // Stable: contenders stay in their order.
        lines.sort_by_key(|line| line.0);
        let heads = measures.iter().map(AsRef::as_ref);
        let mut grid = Grid::new(title, ["", "keys"].into_iter().chain(heads));
        for (keys, contender) in lines {
            let cell = |measure: &str| {
                let found = asked().find(|it| it.is_of(contender, measure) && it.keys == keys);
                found.map_or(String::new(), Figure::cell)
            };
            let cells = measures.iter().map(|measure| cell(measure.as_ref()));
            grid.row([contender.to_owned(), keys.to_string()].into_iter().chain(cells));
        }
        grid
    }
}

/// Each once, in the order in which they come first.
pub(crate) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for it in all {
        if !distinct.contains(&it) {
            distinct.push(it);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        let mut figures = Figures::default();
        // The machine was half as fast in the second run.
        for (contender, one, many) in [("a", [8.0, 4.0], [30.0, 15.0]), ("b", [4.0, 2.0], [1.0; 2])]
        {
            for run in 0..2 {
                figures.add(contender, 100, "find", RATE, one[run]);
                figures.add(contender, 100, "find many", RATE, many[run]);
                figures.add(contender, 100, "lost", FAULTS, run as f64);
            }
        }
        figures
    }

    #[test]
    fn ratios_are_taken_within_a_run() {
        let mut figures = figures();
        figures.add_fastest("fastest", &["find".to_owned(), "find many".to_owned()]);
        let text = figures.ratios().to_string();
        let lines: Vec<&str> = text.lines().skip(2).map(str::trim).collect();
        assert_eq!(lines, ["b", "find       2.00", "find many  22.5", "fastest    7.50"]);
    }

    #[test]
    fn tables_are_of_medians_and_of_the_worst_faults() {
        let figures = figures();
        let text = figures.by_measure("T").to_string();
        assert!(
            text.contains("find, M/s       6.00  3.00") && text.contains("lost, keys      1.00")
        );
        let text = figures.by_size("T", &["find many"]).to_string();
        assert!(text.contains("a   100       22.5"), "{text}");
        assert_eq!(figures.rows()[0].least, 4.0);
    }
}
