//! Ratios, which stay valid on a machine whose speed drifts. Each is the median over the runs of
//! the ratio within a run.

use super::text::{Grid, number};
use crate::keys::Present;
use crate::measure::median;
use crate::results::{Measure, Results};
use crate::subject::How;

/// The median of the ratios run by run.
fn ratio(top: &[f64], bottom: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = top.iter().zip(bottom).map(|(top, bottom)| top / bottom).collect();
    median(&ratios)
}

/// The runs of a contender's best way among several.
fn best<'a>(results: &'a Results, contender: usize, ways: &[Measure]) -> &'a [f64] {
    let measured = ways.iter().filter_map(|&way| {
        let runs = results.runs(contender, way);
        median(runs).map(|median| (median, runs))
    });
    measured.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(&[], |(_, runs)| runs)
}

/// The comparisons of two filters: for each, the best of these ways of either filter.
fn comparisons() -> Vec<(String, Vec<Measure>)> {
    let fills = [Measure::Insert(How::Single), Measure::Insert(How::Many), Measure::Build(1)];
    let mut columns = vec![
        ("bits/key".to_owned(), vec![Measure::BitsPerKey]),
        ("insert".into(), vec![Measure::Insert(How::Single)]),
        ("first 1/2".into(), vec![Measure::first_half(How::Single)]),
        ("last 1/10".into(), vec![Measure::last_tenth(How::Single)]),
        ("insert*".into(), [How::Single, How::Many].map(Measure::Insert).to_vec()),
        ("last 1/10*".into(), [How::Single, How::Many].map(Measure::last_tenth).to_vec()),
        ("fill*".into(), fills.to_vec()),
    ];
    let ways: [(&str, &[How]); 3] = [
        ("find", &[How::Single]),
        ("call", &[How::Call]),
        ("find*", &[How::Single, How::Call, How::Many]),
    ];
    for (name, ways) in ways {
        for present in Present::ALL {
            let ways = ways.iter().map(|&how| Measure::Find(how, present)).collect();
            columns.push((format!("{name} {}%", present.0), ways));
        }
    }
    columns.push(("remove".into(), vec![Measure::Remove(How::Single)]));
    columns.push(("remove*".into(), [How::Single, How::Many].map(Measure::Remove).to_vec()));
    columns
}

/// One contender's figures divided by another's, a line for each pair of (top, bottom).
#[must_use]
pub fn against(
    results: &Results,
    title: &str,
    pairs: impl IntoIterator<Item = (usize, usize)>,
) -> Grid {
    let comparisons = comparisons();
    let heads = comparisons.iter().map(|(name, _)| name.clone());
    let title = format!("{title} (* fastest way of each)");
    let mut grid = Grid::new(title, [String::new()].into_iter().chain(heads));
    for (top, bottom) in pairs {
        let cells = comparisons
            .iter()
            .map(|(_, ways)| number(ratio(best(results, top, ways), best(results, bottom, ways))));
        let name = format!("{} / {}", results.names[top], results.names[bottom]);
        grid.row([name].into_iter().chain(cells));
    }
    grid
}

/// What each of our filters gains from batches and from building at once.
#[must_use]
pub fn gains(results: &Results, contenders: &[usize]) -> Grid {
    let lines = [
        ("insert_many / insert", Measure::Insert(How::Many), Measure::Insert(How::Single)),
        (
            "the same, last twentieth",
            Measure::last_twentieth(How::Many),
            Measure::last_twentieth(How::Single),
        ),
        ("build / insert", Measure::Build(1), Measure::Insert(How::Single)),
        ("build on 2 / build", Measure::Build(2), Measure::Build(1)),
        (
            "contains_many / contains, 0 %",
            Measure::Find(How::Many, Present(0)),
            Measure::Find(How::Single, Present(0)),
        ),
        (
            "contains_many / contains, 100 %",
            Measure::Find(How::Many, Present(100)),
            Measure::Find(How::Single, Present(100)),
        ),
        ("remove_many / remove", Measure::Remove(How::Many), Measure::Remove(How::Single)),
    ];
    let heads = contenders.iter().map(|&contender| results.names[contender].clone());
    let mut grid = Grid::new("Gains of batches", [String::new()].into_iter().chain(heads));
    for (name, top, bottom) in lines {
        let cell = |&contender: &usize| {
            number(ratio(results.runs(contender, top), results.runs(contender, bottom)))
        };
        let cells: Vec<String> = contenders.iter().map(cell).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            grid.row([name.to_owned()].into_iter().chain(cells));
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_a_run() {
        // The machine was half as fast in the second run; the ratio is 2 in both.
        assert_eq!(ratio(&[8.0, 4.0], &[4.0, 2.0]), Some(2.0));
        assert_eq!(ratio(&[], &[1.0]), None);
    }

    #[test]
    fn the_best_way_of_each_is_compared() {
        let mut results = Results::new(1000, vec!["a".into(), "b".into()]);
        let find = |how| Measure::Find(how, Present(0));
        results.record(0, find(How::Single), 10.0);
        results.record(0, find(How::Many), 30.0);
        results.record(1, find(How::Single), 15.0);
        let text = against(&results, "T", [(0, 1)]).to_string();
        // Of what was measured: find at 0 %, and the fastest way to.
        let (head, line) = text.trim_end().rsplit_once('\n').unwrap();
        assert!(head.trim_end().ends_with("find 0%  find* 0%"), "{text}");
        assert_eq!(line.split_whitespace().collect::<Vec<_>>()[3..], ["0.67", "2.00"], "{text}");
    }
}
