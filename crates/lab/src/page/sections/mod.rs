//! The sections of the report: what the paper did, our plots and tables, and why they differ.

mod articles;
mod others;
mod space;
mod speed;
mod tables;
mod threads;

use anyhow::Result;

use super::Section;
use super::data::Data;
use super::plot::Line;
use super::table::Table;
use crate::paper::Experiment;

/// All sections, in the paper's order.
pub(super) fn all(data: &Data) -> Result<Vec<Section>> {
    let sections = [
        vec![tables::table1(data), tables::table2(data)],
        vec![space::figure2(data)?, space::figure3(data)?, space::figure4(data)?],
        vec![tables::table3(data)],
        vec![speed::figure5(data)?, speed::figure6(data)?],
        vec![speed::figure7(data)?, speed::figure8(data)?],
        articles::all(data)?,
        others::all(data),
        threads::all(data)?,
    ];
    Ok(sections.concat())
}

/// A table of ours beside the paper's.
fn cells(data: &Data, experiment: Experiment) -> Table {
    Table::of_cells("Ours, with the paper's figure in brackets", data.of(experiment))
}

fn lines(data: &Data, experiment: Experiment, panel: &str) -> Vec<Line> {
    let names = data.lines(experiment, panel);
    let line = |name: String| {
        let points = data.line(experiment, panel, &name);
        (name, points)
    };
    names.into_iter().map(line).collect()
}
