//! Statements on loads, bits per item, and table 3.

use std::ops::RangeInclusive;

use super::{Claim, named};
use crate::page::data::{Data, LARGEST};
use crate::paper::Experiment as E;
use crate::paper::copies::WALK;

/// The largest table of a panel of figure 2 that was filled with fingerprints of some of these
/// bits, the fewest and the most of them, and its least load with these.
struct Filled {
    name: String,
    bits: (f64, f64),
    load: f64,
}

impl Filled {
    fn of(data: &Data, panel: &str, bits: RangeInclusive<f64>) -> Option<Self> {
        let tables = data.lines(E::Figure2, panel).into_iter().rev();
        tables.filter(|name| name.starts_with("m = ")).find_map(|name| {
            let mut line = data.line(E::Figure2, panel, &name);
            line.retain(|point| bits.contains(&point.0));
            let (first, last) = (line.first()?.0, line.last()?.0);
            let load = line.iter().map(|point| point.1).fold(f64::NAN, f64::min);
            Some(Self { name, bits: (first, last), load })
        })
    }

    fn size(&self) -> String {
        let (first, last) = self.bits;
        let bits = if first < last { format!("{first} to {last}") } else { first.to_string() };
        format!("{} buckets, {bits} bits", self.name.trim_start_matches("m = "))
    }
}

pub(super) fn loads(data: &Data) -> Vec<Claim> {
    let percent = |load: f64| format!("{:.1} %", load * 100.0);
    let mut claims = Vec::new();
    for (says, panel, least) in [
        ("Buckets of 2 fill to 84 %", "b = 2", 0.84),
        ("Buckets of 4 fill to 95 %", "b = 4", 0.945),
        ("Buckets of 8 fill to 98 %", "b = 8", 0.975),
    ] {
        let filled = Filled::of(data, panel, 12.0..=20.0);
        let load = filled.as_ref().map_or(f64::NAN, |filled| filled.load);
        claims.push(Claim {
            says,
            found: percent(load),
            holds: Some(load > least),
            at: (E::Figure2, filled.map_or_else(String::new, |filled| filled.size())),
        });
    }
    let copies = data.cell(E::Copies, "accepted", WALK);
    claims.extend(Filled::of(data, "b = 4", 6.0..=20.0).map(|filled| Claim {
        says: "Six bits are enough at b = 4, for 2^30 buckets",
        found: percent(filled.load),
        // A smaller table's load says nothing about this one.
        holds: (filled.name == LARGEST).then_some(filled.load > 0.945),
        at: (E::Figure2, filled.size()),
    }));
    claims.push(Claim {
        says: "One item can be inserted 2b = 8 times",
        found: copies.to_string(),
        holds: Some(copies == 8.0),
        at: (E::Copies, "2^10 buckets".to_owned()),
    });
    claims
}

/// The value of a line over a rate, straight between its points over the logarithm of the rate.
fn at(line: &[(f64, f64)], rate: f64) -> f64 {
    let around = line.windows(2).find(|pair| pair[0].0 <= rate && rate <= pair[1].0);
    around.map_or(f64::NAN, |pair| {
        let ((low, from), (high, to)) = (pair[0], pair[1]);
        from + (to - from) * (rate / low).ln() / (high / low).ln()
    })
}

/// Figures 3 and 4: bits per item by the rate.
pub(super) fn space(data: &Data) -> Vec<Claim> {
    let walks = ["b = 2", "b = 4"].map(|name| data.line(E::Figure3, "space", name));
    let bits = |rate: f64| [at(&walks[0], rate), at(&walks[1], rate)];
    let (coarse, fine) = (bits(0.01), [bits(0.001), bits(0.0001)]);
    let text = |[two, four]: [f64; 2]| format!("{two:.2} and {four:.2} bits");
    let formulas = ["Bloom", "ss-CF"].map(|name| data.line(E::Figure4, "formulas", name));
    let [bloom, sorted] = [0, 1].map(|of| [0.02, 0.03].map(|rate| at(&formulas[of], rate)));
    vec![
        Claim {
            says: "b = 2 takes fewer bits an item than b = 4 at rates above 0.2 %",
            found: format!("{} at 1 %", text(coarse)),
            holds: Some(coarse[0] < coarse[1]),
            at: (E::Figure3, "2^17 slots".to_owned()),
        },
        Claim {
            says: "b = 4 takes fewer than b = 2 from 0.001 to 0.2 %",
            found: format!("{} at 0.1 %, {} at 0.01 %", text(fine[0]), text(fine[1])),
            holds: Some(fine.iter().all(|[two, four]| four < two)),
            at: (E::Figure3, "2^17 slots".to_owned()),
        },
        Claim {
            says: "ss-CF takes fewer bits than a Bloom filter below 3 %",
            found: format!(
                "{:.2} and {:.2} at 2 %, {:.2} and {:.2} at 3 %",
                sorted[0], bloom[0], sorted[1], bloom[1]
            ),
            holds: Some(sorted[0] < bloom[0] && (sorted[1] - bloom[1]).abs() < 0.1),
            at: (E::Figure4, "the formulas".to_owned()),
        },
    ]
}

/// The paper's six, from the least of a column to the greatest.
fn order(data: &Data, column: &str) -> Vec<(&'static str, f64)> {
    let mut rows = ["CF", "ss-CF", "BF", "blk-BF", "QF", "dl-CBF"]
        .map(|name| (name, data.largest_table3(column, name)))
        .to_vec();
    rows.sort_by(|a, b| a.1.total_cmp(&b.1));
    rows
}

/// The size of an experiment's tables.
fn size(data: &Data, experiment: E) -> String {
    format!("{:.0} MB", data.largest(experiment).1)
}

pub(super) fn table3(data: &Data) -> Vec<Claim> {
    let (rates, bits) = (order(data, "fpr, %"), order(data, "bits an item"));
    let speeds = order(data, "construction, M/s");
    let (first, last) = (speeds[5], speeds[0]);
    let speed = |name: &str| data.largest_table3("construction, M/s", name);
    let cuckoo = speed("CF");
    let others = ["ss-CF", "BF", "QF", "dl-CBF"].map(|name| (name, speed(name)));
    let best = others.into_iter().fold(("", 0.0), |a, b| if b.1 > a.1 { b } else { a });
    let rate = |name: &str| data.largest_table3("fpr, %", name);
    let dleft = data.largest_table3("items over slots, %", "dl-CBF");
    let claim = |says, found, holds| Claim {
        says,
        found,
        holds: Some(holds),
        at: (E::Table3, size(data, E::Table3)),
    };
    vec![
        claim(
            "ss-CF has the lowest false-positive rate",
            named(rates[0]) + " %",
            rates[0].0 == "ss-CF",
        ),
        claim("dl-CBF has the highest", named(rates[5]) + " %", rates[5].0 == "dl-CBF"),
        claim(
            "CF and ss-CF take the fewest bits an item",
            format!("{}; {}", named(bits[0]), named(bits[1])),
            bits[..2].iter().all(|(name, _)| ["CF", "ss-CF"].contains(name)),
        ),
        claim("blk-BF is built fastest", named(first) + " M/s", first.0 == "blk-BF"),
        claim("QF is built slowest", named(last) + " M/s", last.0 == "QF"),
        claim(
            "CF is built faster than all others but blk-BF",
            named(("CF", cuckoo)) + " M/s; " + &named(best),
            cuckoo > best.1,
        ),
        claim(
            "blk-BF has twice BF's false-positive rate",
            format!("{:.2} times", rate("blk-BF") / rate("BF")),
            (1.6..2.5).contains(&(rate("blk-BF") / rate("BF"))),
        ),
        claim(
            "dl-CBF refuses the first key at about 78 % of its slots",
            format!("{dleft:.1} %"),
            (76.0..80.0).contains(&dleft),
        ),
    ]
}
