//! The evaluation that the thesis left open: throughput by threads, for each kind of lock.

use anyhow::Result;

use super::Section;
use super::data::Data;
use super::plot::{Axis, Line, Plot, among};
use super::sections::speed;
use super::table::Table;
use crate::report::number;
use crate::results::Row;
use crate::threads::{Mix, Way};

/// The lines of each plot: every kind of lock, then other ways to share a filter.
const PANELS: [(&str, [&str; 6]); 2] = [
    (
        "",
        [
            "striped, parking",
            "striped, MCS",
            "striped, elided MCS",
            "one lock, parking",
            "one lock, MCS",
            "one lock, elided MCS",
        ],
    ),
    (
        "-others",
        ["striped, parking", "64 x Mutex<CuckooFilter>", "one owner, no sharing", "", "", ""],
    ),
];

/// The section, or none if threads were not measured.
pub(super) fn section(data: &Data) -> Result<Option<Section>> {
    let rows = &data.threads;
    if rows.is_empty() {
        return Ok(None);
    }
    let mut plots = Vec::new();
    for mix in Mix::ALL {
        let lines = lines(rows, mix, Way::Single);
        let most = lines.iter().flat_map(|line| &line.1).map(|point| point.0).fold(1.0, f64::max);
        let threads = Axis { label: "threads", from: 0.0, to: most * 1.02, logarithmic: false };
        let label = format!("million operations a second, {mix}");
        for (part, names) in PANELS {
            let file = format!("threads-{}{part}.svg", mix.to_string().replace(" % ", "-"));
            let shown = among(&lines, &names);
            plots.push(Plot::new(&file, "Threads", threads, speed(&label, &lines), &shown)?);
        }
    }
    let title = "Threads: one filter and several locks";
    Ok(Some(Section { title, plots, tables: vec![gains(rows)] }))
}

/// The rate of the most threads over that of one.
fn gains(rows: &[Row]) -> Table {
    let mixes = Mix::ALL.map(|mix| lines(rows, mix, Way::Single));
    let cell = |name: &str, mix: &Vec<Line>| {
        let line = mix.iter().find(|line| line.0 == name);
        let ends = line.and_then(|(_, points)| points.first().zip(points.last()));
        number(ends.map(|(first, last)| last.1 / first.1))
    };
    let names = mixes.first().into_iter().flatten().map(|line| &line.0);
    let row = |name: &String| {
        std::iter::once(name.clone()).chain(mixes.iter().map(|mix| cell(name, mix))).collect()
    };
    let heads = Mix::ALL.iter().map(ToString::to_string);
    Table {
        caption: "What the most threads do over what one does, one by one".to_owned(),
        head: std::iter::once(String::new()).chain(heads).collect(),
        rows: names.map(row).collect(),
    }
}

/// A line for each filter, in the order of the file.
fn lines(rows: &[Row], mix: Mix, way: Way) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let (begin, end) = (format!("{mix}, {way}, "), " threads");
    for row in rows {
        let threads = row.measure.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(end));
        let Some(threads) = threads.and_then(|number| number.parse().ok()) else { continue };
        if lines.last().is_none_or(|(name, _)| *name != row.contender) {
            lines.push((row.contender.clone(), Vec::new()));
        }
        lines.last_mut().expect("just pushed").1.push((threads, row.median));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_lines_of_their_mix() {
        let row = |contender: &str, measure: &str, median| Row {
            contender: contender.to_owned(),
            measure: measure.to_owned(),
            median,
            ..Row::default()
        };
        let rows = [
            row("a", "lookups, one by one, 1 threads", 2.0),
            row("a", "lookups, one by one, 8 threads", 9.0),
            row("b", "lookups, one by one, 1 threads", 3.0),
            row("a", "lookups, in batches, 1 threads", 5.0),
            row("a", "10 % inserts, one by one, 1 threads", 4.0),
        ];
        let expected =
            [("a".to_owned(), vec![(1.0, 2.0), (8.0, 9.0)]), ("b".to_owned(), vec![(1.0, 3.0)])];
        assert_eq!(lines(&rows, Mix::ALL[0], Way::Single), expected);
        let batches = lines(&rows, Mix::ALL[0], Way::Batch);
        assert_eq!(batches, [("a".to_owned(), vec![(1.0, 5.0)])]);
        assert_eq!(lines(&rows, Mix::ALL[1], Way::Single), [("a".to_owned(), vec![(1.0, 4.0)])]);
        let table = gains(&rows);
        assert_eq!(table.rows[0], ["a", "4.50", "1.00", "", ""]);
    }
}
