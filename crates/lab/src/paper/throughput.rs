//! Figures 5 to 8: speeds by share of present keys and by occupancy.

use super::passes::{Pass, Passes};
use super::values::Value;
use super::{Experiment, median_of_runs};

/// The values of figure 5, 6, 7 or 8.
pub(super) fn figure(experiment: Experiment, passes: &[Passes]) -> Vec<Value> {
    let values = passes.iter().flat_map(|passes| {
        let name = passes.structure.name;
        // Runs end at loads that differ a little; their last points are one, at the median.
        let end = whole_percent(passes.median(end_of));
        let runs = passes.runs.iter().map(|pass| of_pass(experiment, name, pass, end)).collect();
        median_of_runs(runs)
    });
    values.collect()
}

/// The occupancy to which the structure was filled.
fn end_of(pass: &Pass) -> f64 {
    pass.insert.last().map_or(f64::NAN, |point| point.0)
}

fn of_pass(experiment: Experiment, name: &str, pass: &Pass, end: f64) -> Vec<Value> {
    let points = |group: &'static str, points: &[(f64, f64)]| {
        let place = |x: f64| if x < end_of(pass) { whole_percent(x) } else { end };
        let point = |&(x, y): &(f64, f64)| Value::point(group, name, place(x), y);
        points.iter().map(point).collect::<Vec<_>>()
    };
    match experiment {
        Experiment::Figure5 => {
            let point = |&(x, y): &(u8, f64)| Value::point("lookups", name, f64::from(x), y);
            pass.mixes.iter().map(point).collect()
        }
        Experiment::Figure6 => {
            [points("absent keys", &pass.absent), points("present keys", &pass.present)].concat()
        }
        Experiment::Figure7 => points("inserts", &pass.insert),
        _ => points("removals", &pass.remove),
    }
}

fn whole_percent(share: f64) -> f64 {
    (share * 100.0).round()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::structures;

    #[test]
    fn runs_that_end_at_different_loads_have_one_last_point() {
        let pass = |end, speed| Pass {
            insert: vec![(0.05, 9.0), (end, speed)],
            remove: vec![(end, 7.0), (0.05, 8.0)],
            ..Pass::default()
        };
        let runs = vec![pass(0.97, 2.0), pass(0.978, 1.0), pass(0.979, 4.0)];
        let passes = [Passes { structure: structures::all().swap_remove(0), runs }];
        let points = |experiment| {
            let values = figure(experiment, &passes);
            values.iter().map(|value| (value.x, value.y)).collect::<Vec<_>>()
        };
        assert_eq!(points(Experiment::Figure7), [(5.0, 9.0), (98.0, 2.0)]);
        assert_eq!(points(Experiment::Figure8), [(98.0, 7.0), (5.0, 8.0)]);
    }
}
