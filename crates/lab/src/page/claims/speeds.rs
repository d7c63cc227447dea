//! Statements on the speeds of figures 5 to 8.

use super::{Claim, named};
use crate::page::data::{Data, FULL_MEGABYTES, line};
use crate::paper::Experiment as E;
use crate::paper::values::Value;
use crate::report::number;

/// The experiments of the statements.
const FIGURES: [E; 4] = [E::Figure5, E::Figure6, E::Figure7, E::Figure8];

/// At the paper's size, if there are results, and at the small one: some depend on the cache.
pub(super) fn all(data: &Data) -> Vec<Claim> {
    let full = |experiment| data.full(experiment).map_or(&[][..], |full| &full.rows);
    let are_full = FIGURES.iter().all(|&experiment| data.full(experiment).is_some());
    let large = are_full.then(|| speeds(full, FULL_MEGABYTES));
    let small = speeds(|experiment| data.of(experiment), data.megabytes());
    // Each statement's verdicts below each other.
    match large {
        Some(large) => large.into_iter().zip(small).flat_map(<[_; 2]>::from).collect(),
        None => small,
    }
}

/// A set of values, as the statements on figures 5 to 8 need it.
struct Speeds<F> {
    values: F,
    megabytes: f64,
}

fn speeds<'a>(values: impl Fn(E) -> &'a [Value], megabytes: f64) -> Vec<Claim> {
    let speeds = Speeds { values, megabytes };
    [speeds.by_share(), speeds.by_occupancy(), speeds.of_removals()].concat()
}

fn mean(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|point| point.1).sum::<f64>() / line.len() as f64
}

fn text((from, to): (f64, f64)) -> String {
    format!("{} to {} M/s", number(Some(from)), number(Some(to)))
}

/// Whether two speeds are about the same.
fn alike((from, to): (f64, f64)) -> bool {
    (0.8..1.25).contains(&(to / from))
}

fn slower((from, to): (f64, f64)) -> bool {
    to < 0.8 * from
}

/// The name with the least speed.
fn slowest(of: &[(&'static str, f64)]) -> (&'static str, f64) {
    of.iter().copied().fold(("", f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a })
}

impl<'a, F: Fn(E) -> &'a [Value]> Speeds<F> {
    fn claim(&self, experiment: E, says: &'static str, found: String, holds: bool) -> Claim {
        let size = format!("{:.0} MB", self.megabytes);
        Claim { says, found, holds: Some(holds), at: (experiment, size) }
    }

    fn line(&self, experiment: E, panel: &str, name: &str) -> Vec<(f64, f64)> {
        line((self.values)(experiment), panel, name)
    }

    /// The speed at the first point and at the last one: from the emptiest to the fullest.
    fn ends(&self, experiment: E, panel: &str, name: &str) -> (f64, f64) {
        let line = self.line(experiment, panel, name);
        let speed = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.1);
        (speed(line.first()), speed(line.last()))
    }

    /// Figure 5: lookups by the share of present keys.
    fn by_share(&self) -> Vec<Claim> {
        let [cuckoo, bloom] = ["CF", "BF"].map(|name| self.ends(E::Figure5, "lookups", name));
        let of = |name: &'static str| (name, mean(&self.line(E::Figure5, "lookups", name)));
        let means = ["CF", "ss-CF", "BF", "blk-BF", "QF", "dl-CBF"].map(of);
        let [(_, sorted), (_, plain), quotient, (_, dleft)] = [1, 2, 4, 5].map(|at| means[at]);
        let least = slowest(&means);
        let lines = ["ss-CF", "BF"].map(|name| self.line(E::Figure5, "lookups", name));
        let above = lines[0].iter().zip(&lines[1]).filter(|pair| pair.0.0 > 25.0);
        let ratios: Vec<f64> = above.map(|(sorted, plain)| sorted.1 / plain.1).collect();
        let [lowest, highest] =
            [f64::min, f64::max].map(|of| ratios.iter().copied().reduce(of).unwrap_or(f64::NAN));
        vec![
            self.claim(
                E::Figure5,
                "CF answers absent and present keys equally fast",
                text(cuckoo),
                alike(cuckoo),
            ),
            self.claim(
                E::Figure5,
                "BF gets slower with the share of present keys",
                text(bloom),
                bloom.1 < bloom.0,
            ),
            self.claim(
                E::Figure5,
                "ss-CF is faster than BF where more than 25 % are present",
                format!("{lowest:.2} to {highest:.2} times"),
                lowest > 1.0,
            ),
            self.claim(
                E::Figure5,
                "QF looks up slowest of all six, over all shares",
                named(quotient) + " M/s; slowest " + &named(least),
                least.0 == "QF",
            ),
            self.claim(
                E::Figure5,
                "dl-CBF looks up faster than ss-CF, and 30 % slower than BF",
                format!("{:.2} and {:.2} times", dleft / sorted, dleft / plain),
                dleft > sorted && (0.6..0.8).contains(&(dleft / plain)),
            ),
        ]
    }

    /// Figures 6 and 7: lookups and inserts by occupancy.
    fn by_occupancy(&self) -> Vec<Claim> {
        let filling = |name| self.ends(E::Figure6, "absent keys", name);
        let (cuckoo, absent) = (filling("CF"), filling("QF"));
        let present = self.ends(E::Figure6, "present keys", "QF");
        let [inserts, plain] = ["CF", "BF"].map(|name| self.ends(E::Figure7, "inserts", name));
        vec![
            self.claim(
                E::Figure6,
                "CF looks up absent keys equally fast at all loads",
                text(cuckoo),
                alike(cuckoo),
            ),
            self.claim(
                E::Figure6,
                "QF looks up absent keys much slower as it fills",
                text(absent),
                slower(absent),
            ),
            self.claim(
                E::Figure6,
                "QF looks up present keys much slower as it fills",
                text(present),
                slower(present),
            ),
            self.claim(
                E::Figure7,
                "CF inserts get slower as it fills",
                text(inserts),
                inserts.1 < inserts.0,
            ),
            self.claim(
                E::Figure7,
                "BF inserts are equally fast at all loads",
                text(plain),
                alike(plain),
            ),
        ]
    }

    /// Figure 8: from full to empty.
    fn of_removals(&self) -> Vec<Claim> {
        let of = |name: &'static str| (name, mean(&self.line(E::Figure8, "removals", name)));
        let (cuckoo, sorted, quotient, dleft) = (of("CF"), of("ss-CF"), of("QF"), of("dl-CBF"));
        let fastest = |of: &[(&'static str, f64)]| {
            of.iter().copied().fold(("", 0.0), |a, b| if b.1 > a.1 { b } else { a })
        };
        let best = fastest(&[sorted, quotient, dleft]);
        let full = ["CF", "ss-CF", "QF", "dl-CBF"]
            .map(|name| (name, self.ends(E::Figure8, "removals", name).1));
        let [empty_sorted, empty_quotient] =
            ["ss-CF", "QF"].map(|name| self.ends(E::Figure8, "removals", name).0);
        vec![
            self.claim(
                E::Figure8,
                "CF removes fastest of the paper's four",
                named(cuckoo) + " M/s; " + &named(best),
                cuckoo.1 > best.1,
            ),
            self.claim(
                E::Figure8,
                "dl-CBF removes second fastest",
                named(dleft) + " M/s; " + &named(fastest(&[sorted, quotient])),
                cuckoo.1 > dleft.1 && dleft.1 > sorted.1.max(quotient.1),
            ),
            self.claim(
                E::Figure8,
                "QF removes slowest when full, and faster than ss-CF when nearly empty",
                format!(
                    "full {} M/s, slowest {}; nearly empty {} and {}",
                    number(Some(full[2].1)),
                    named(slowest(&full)),
                    number(Some(empty_quotient)),
                    number(Some(empty_sorted))
                ),
                slowest(&full).0 == "QF" && empty_quotient > empty_sorted,
            ),
        ]
    }
}
