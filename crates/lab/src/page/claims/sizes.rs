//! Statements on loads, bits an item, and table 3.

use super::{Claim, named};
use crate::page::data::Data;
use crate::paper::Experiment as E;
use crate::paper::copies::WALK;

/// The line of the largest table of a panel of figure 2.
fn largest(data: &Data, panel: &str) -> String {
    let mut tables = data.lines(E::Figure2, panel).into_iter();
    tables.rfind(|name| name.starts_with("m = ")).unwrap_or_default()
}

/// The least load of a table of figure 2, for fingerprints of these bits.
fn load(data: &Data, panel: &str, name: &str, bits: std::ops::RangeInclusive<u32>) -> f64 {
    let line = data.line(E::Figure2, panel, name);
    let of =
        |&&(x, _): &&(f64, f64)| (f64::from(*bits.start())..=f64::from(*bits.end())).contains(&x);
    line.iter().filter(of).map(|point| point.1).fold(f64::NAN, f64::min)
}

pub(super) fn loads(data: &Data) -> Vec<Claim> {
    let percent = |load: f64| format!("{:.1} %", load * 100.0);
    let buckets = |name: &str| name.trim_start_matches("m = ").to_owned() + " buckets";
    let mut claims = Vec::new();
    for (says, panel, least) in [
        ("Buckets of 2 fill to 84 %", "b = 2", 0.84),
        ("Buckets of 4 fill to 95 %", "b = 4", 0.945),
        ("Buckets of 8 fill to 98 %", "b = 8", 0.975),
    ] {
        // The largest table that has long fingerprints.
        let mut tables = data.lines(E::Figure2, panel).into_iter();
        let is_long =
            |name: &String| name.starts_with("m = ") && !load(data, panel, name, 12..=20).is_nan();
        let name = tables.rfind(is_long).unwrap_or_default();
        let found = load(data, panel, &name, 12..=20);
        let size = format!("{}, 12 to 20 bits", buckets(&name));
        claims.push(Claim {
            says,
            found: percent(found),
            holds: found > least,
            at: (E::Figure2, size),
        });
    }
    let name = largest(data, "b = 4");
    let six = load(data, "b = 4", &name, 6..=20);
    let copies = data.cell(E::Copies, "accepted", WALK);
    claims.push(Claim {
        says: "Six bits are enough at b = 4, for 2^30 buckets",
        found: percent(six),
        holds: six > 0.945,
        at: (E::Figure2, buckets(&name) + if name == "m = 2^30" { "" } else { " only" }),
    });
    claims.push(Claim {
        says: "One item can be inserted 2b = 8 times",
        found: copies.to_string(),
        holds: copies == 8.0,
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

/// Figures 3 and 4: bits an item by the rate.
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
            holds: coarse[0] < coarse[1],
            at: (E::Figure3, "2^17 slots".to_owned()),
        },
        Claim {
            says: "b = 4 takes fewer than b = 2 from 0.001 to 0.2 %",
            found: format!("{} at 0.1 %, {} at 0.01 %", text(fine[0]), text(fine[1])),
            holds: fine.iter().all(|[two, four]| four < two),
            at: (E::Figure3, "2^17 slots".to_owned()),
        },
        Claim {
            says: "ss-CF takes fewer bits than a Bloom filter below 3 %",
            found: format!(
                "{:.2} and {:.2} at 2 %, {:.2} and {:.2} at 3 %",
                sorted[0], bloom[0], sorted[1], bloom[1]
            ),
            holds: sorted[0] < bloom[0] && (sorted[1] - bloom[1]).abs() < 0.1,
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
    let claim =
        |says, found, holds| Claim { says, found, holds, at: (E::Table3, size(data, E::Table3)) };
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
