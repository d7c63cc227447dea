//! Ratios: what stays true on a machine whose speed moves. Each is the median over the runs of the
//! ratio within a run.

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

/// What two filters are compared in: the best of these ways of each.
fn comparisons() -> Vec<(String, Vec<Measure>)> {
    let mut lines = vec![
        ("bits a key".to_owned(), vec![Measure::BitsPerKey]),
        ("insert, one by one".into(), vec![Measure::Insert(How::Single)]),
        ("insert, one by one, last tenth".into(), vec![Measure::last_tenth(How::Single)]),
        (
            "fill, fastest way".into(),
            vec![Measure::Insert(How::Single), Measure::Insert(How::Many), Measure::Build(1)],
        ),
    ];
    for Present(percent) in Present::ALL {
        let find = |how| Measure::Find(how, Present(percent));
        lines.push((format!("lookup one by one, {percent} %"), vec![find(How::Single)]));
        lines.push((format!("lookup not inlined, {percent} %"), vec![find(How::Call)]));
        let ways = [How::Single, How::Call, How::Many].map(find).to_vec();
        lines.push((format!("lookup, fastest way, {percent} %"), ways));
    }
    lines.push(("remove, one by one".into(), vec![Measure::Remove(How::Single)]));
    let ways = [How::Single, How::Many].map(Measure::Remove).to_vec();
    lines.push(("remove, fastest way".into(), ways));
    lines
}

/// One contender's figures divided by those of the others.
#[must_use]
pub fn against(results: &Results, contender: usize, others: &[usize]) -> Grid {
    let title = format!("{} divided by the others", results.names[contender]);
    let heads = others.iter().map(|&other| results.names[other].clone());
    let mut grid = Grid::new(title, [String::new()].into_iter().chain(heads));
    if others.is_empty() {
        return grid;
    }
    for (name, ways) in comparisons() {
        let top = best(results, contender, &ways);
        let cells = others.iter().map(|&other| number(ratio(top, best(results, other, &ways))));
        grid.row([name].into_iter().chain(cells));
    }
    grid
}

/// What batches and building at once gain each of our filters over itself.
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
        let text = against(&results, 0, &[1]).to_string();
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(line("lookup, fastest way, 0 %").ends_with(" 2.00"), "{text}");
        assert!(line("lookup one by one, 0 %").ends_with(" 0.67"), "{text}");
    }
}
