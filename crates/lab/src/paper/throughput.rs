//! Figures 5 to 8: speeds by share of present keys and by occupancy.

use super::passes::{Pass, Passes};
use super::values::Value;
use super::{Experiment, median_of_runs};

/// The values of figure 5, 6, 7 or 8.
pub(super) fn figure(experiment: Experiment, passes: &[Passes]) -> Vec<Value> {
    let values = passes.iter().flat_map(|passes| {
        let name = passes.structure.name;
        let runs = passes.runs.iter().map(|pass| of_pass(experiment, name, pass)).collect();
        median_of_runs(runs)
    });
    values.collect()
}

fn of_pass(experiment: Experiment, name: &str, pass: &Pass) -> Vec<Value> {
    let points = |group: &'static str, points: &[(f64, f64)]| {
        let point = |&(x, y): &(f64, f64)| Value::point(group, name, whole_percent(x), y);
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

/// Runs end at loads that differ a little; as whole percents they are one point.
fn whole_percent(share: f64) -> f64 {
    (share * 100.0).round()
}
