//! The evaluation that the thesis left open: throughput by threads, for each kind of lock.

use anyhow::Result;

use super::speed::speed;
use crate::page::Section;
use crate::page::data::Data;
use crate::page::plot::{Axis, Line, Plot};
use crate::page::table::Table;
use crate::results::Row;
use crate::threads::{Mix, Way};

/// The section, or none if threads were not measured.
pub(super) fn all(data: &Data) -> Result<Vec<Section>> {
    if data.threads.is_empty() {
        return Ok(Vec::new());
    }
    let (mut plots, mut tables) = (Vec::new(), Vec::new());
    for mix in Mix::ALL {
        let lines = lines(&data.threads, mix);
        let most = lines.iter().flat_map(|line| &line.1).map(|point| point.0).fold(1.0, f64::max);
        let threads = Axis { label: "threads", from: 0.0, to: most * 1.02, logarithmic: false };
        let file = format!("threads-{}.svg", mix.to_string().replace(" % ", "-"));
        let title = format!("Threads: {mix}, one by one");
        let y = speed("million operations a second", &lines);
        plots.push(Plot::new(&file, &title, threads, y, &lines)?);
        tables.push(Table::of_lines(&title, threads.label, &lines));
    }
    Ok(vec![Section {
        id: "threads",
        title: "Threads: one filter and several locks",
        paper: "Nothing on threads. The thesis on a concurrent cuckoo filter builds it on a global MCS queue lock with \
                elision by hardware transactions, and stops before its evaluation. This is that \
                evaluation, from lookups alone to inserts alone. \"One lock\" guards every \
                operation, as in the thesis; with striped locks lookups take none, and inserts \
                only where keys must move. Made by `lab threads`.",
        differs: "There is no figure in the thesis to compare with. Where there are \
                  more threads than processors they share these, and a queue lock then depends on \
                  whether the next in the queue is awake. Elision needs a processor with \
                  transactions (RTM); elsewhere it is the plain queue lock.",
        plots,
        tables,
    }])
}

/// A line for each filter, in the order of the file.
fn lines(rows: &[Row], mix: Mix) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let (begin, end) = (format!("{mix}, {}, ", Way::Single.name()), " threads");
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
        assert_eq!(lines(&rows, Mix::ALL[0]), expected);
        assert_eq!(lines(&rows, Mix::ALL[1]), [("a".to_owned(), vec![(1.0, 4.0)])]);
    }
}
