//! Figures, as a table and as CSV.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use lab::machine::Machine;

use crate::items::{KEY, VALUE};
use crate::peer::Kind;

/// All figures so far, in the order in which they came.
#[derive(Default)]
pub(crate) struct Output {
    figures: Vec<Figure>,
}

struct Figure {
    store: &'static str,
    measure: String,
    unit: &'static str,
    /// One a run.
    values: Vec<f64>,
}

impl Figure {
    fn median(&self) -> f64 {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }
}

impl Output {
    pub(crate) fn add(
        &mut self,
        store: &'static str,
        measure: &str,
        unit: &'static str,
        value: f64,
    ) {
        eprintln!("{store}: {measure}: {} {unit}", short(value));
        let same = |it: &&mut Figure| (it.store, &*it.measure, it.unit) == (store, measure, unit);
        match self.figures.iter_mut().find(same) {
            Some(figure) => figure.values.push(value),
            None => {
                let (measure, values) = (measure.to_owned(), vec![value]);
                self.figures.push(Figure { store, measure, unit, values });
            }
        }
    }

    fn median(&self, store: &str, measure: &str, unit: &str) -> Option<f64> {
        let is_it = |it: &&Figure| (it.store, &*it.measure, it.unit) == (store, measure, unit);
        self.figures.iter().find(is_it).map(Figure::median)
    }

    /// A line for each measure, a column for each store, and how many times the best of the others
    /// the first one is.
    pub(crate) fn print(&self, kinds: &[Kind], keys: u64) {
        println!("{keys} records, keys of {KEY} bytes, values of {VALUE}; medians");
        print!("{:<48}", "");
        kinds.iter().for_each(|kind| print!(" {:>9}", kind.name));
        println!(" {:>9}", "ours/best");
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for Figure { measure, unit, .. } in &self.figures {
            if seen.contains(&(measure, unit)) {
                continue;
            }
            seen.push((measure, unit));
            print!("{:<48}", format!("{measure}, {unit}"));
            let values: Vec<Option<f64>> =
                kinds.iter().map(|kind| self.median(kind.name, measure, unit)).collect();
            for value in &values {
                print!(" {:>9}", value.map_or_else(|| "-".to_owned(), short));
            }
            let others = values.iter().skip(1).flatten().copied();
            let is_rate = unit.contains("/s");
            let best = if is_rate { others.reduce(f64::max) } else { others.reduce(f64::min) };
            // Nothing was done where it is 0.
            let best = best.filter(|best| *best > 0.0);
            let ratio = values.first().copied().flatten().zip(best).map(|(ours, best)| ours / best);
            println!(" {:>9}", ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")));
        }
    }

    pub(crate) fn write_csv(&self, path: &Path, keys: u64) -> Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        for (name, value) in Machine::describe(None).properties() {
            writeln!(out, "# {name}: {value}")?;
        }
        writeln!(out, "store,keys,measure,unit,median,least,greatest,runs")?;
        for figure in &self.figures {
            let Figure { store, measure, unit, values } = figure;
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (median, runs) = (figure.median(), values.len());
            let measure = measure.replace(',', ";");
            writeln!(out, "{store},{keys},{measure},{unit},{median},{least},{greatest},{runs}")?;
        }
        Ok(out.flush()?)
    }
}

/// Three digits or so.
fn short(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{:.2} M", value / 1e6),
        _ if value >= 1e4 => format!("{:.0} k", value / 1e3),
        _ if value >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(crate) fn per_second(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}
