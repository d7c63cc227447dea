//! The evaluation that the thesis left open: throughput by threads, for each kind of lock.

use anyhow::Result;

use super::speed::speed;
use crate::page::Section;
use crate::page::data::Data;
use crate::page::plot::{Axis, Line, Plot, among};
use crate::page::table::Table;
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
pub(super) fn all(data: &Data) -> Result<Vec<Section>> {
    let rows = &data.threads.rows;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let (mut plots, mut tables) = (Vec::new(), vec![gains(rows)]);
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
        for way in [Way::Single, Way::Batch] {
            let lines = self::lines(rows, mix, way);
            tables.push(Table::of_lines(&format!("{mix}, {way}"), threads.label, &lines));
        }
    }
    Ok(vec![Section {
        id: "threads",
        title: "Threads: one filter and several locks",
        paper: "Nothing on threads. The thesis on a concurrent cuckoo filter builds it on a global \
                MCS queue lock with elision by hardware transactions, and stops before its \
                evaluation. This is that evaluation, from lookups alone to inserts alone. \
                \"One lock\" guards every operation, as in the thesis; with striped locks lookups \
                take none, and inserts only where keys must move. Made by the command lab threads.",
        differs: taken(data)
            + " There is no figure in the thesis to compare with. Rates are by the clock. Where \
               there are more threads than processors they share these, and a queue lock then \
               depends on whether the next in the queue is awake. Elision needs a processor with \
               transactions (RTM); elsewhere it is the plain queue lock, and as fast. \"One owner\" is a filter \
               that does not share itself, held by one thread after the other for all of its \
               work: it says what sharing costs.",
        plots,
        tables,
    }])
}

/// How many keys, and which machine: it need not be that of the other sections.
fn taken(data: &Data) -> String {
    let mut keys: Vec<u64> = data.threads.rows.iter().map(|row| row.keys).collect();
    keys.dedup();
    let keys: Vec<String> = keys.iter().map(|&keys| (keys as f64 / 1e6).to_string()).collect();
    let machine = &data.threads.machine;
    let same = ["cpu", "caches"].iter().all(|name| machine.get(name) == data.machine.get(name));
    let [cpu, cpus, caches, date] = ["cpu", "cpus", "caches", "date"].map(|name| machine.get(name));
    format!(
        "Filters for {} million keys, on {} all else: {cpu}, {cpus} processors, {caches}, \
         {date}.",
        keys.join(" and "),
        if same { "the same machine as" } else { "another machine than" },
    )
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
        folded: false,
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
