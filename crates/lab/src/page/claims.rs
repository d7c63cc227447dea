//! What the paper says, and whether it came out here. Every answer is computed from the results.

use super::data::Data;
use super::table::Table;
use crate::paper::Experiment as E;
use crate::paper::copies::WALK;
use crate::report::number;

/// MB up to which a table is taken to lie in a cache.
pub(super) const CACHED: f64 = 24.0;

/// Why not all of it does.
pub(super) fn reasons(data: &Data) -> String {
    let size = data.megabytes();
    let mut text = String::new();
    if size < CACHED {
        if !data.full_table3.rows.is_empty() {
            text += "Space, rates and construction are those at the paper's 192 MB. ";
        }
        text += &format!(
            "Lookups, inserts by occupancy and removals are measured on tables of {size:.0} MB, \
             which lie in a cache. There the nine reads of a Bloom filter are cheap, and what an \
             absent key costs it is the branch that stops at the first zero and cannot be \
             foreseen. "
        );
    }
    text + "Our quotient filter looks through 64 slots at a time and moves whole words, so it is \
            built faster than the paper's. Why our d-left filter is built more slowly than the \
            paper's at 192 MB was not looked into."
}

/// The paper's statements, what was found, and whether they hold.
pub(super) fn table(data: &Data) -> Table {
    let claims = [loads(data), table3(data), speeds(data)].concat();
    let head = ["The paper says", "Found here", "Holds"];
    Table {
        caption: "The paper's statements and what came out".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: claims
            .into_iter()
            .map(|(claim, found, holds)| {
                let holds = if holds { "yes" } else { "no" };
                vec![claim.to_owned(), found, holds.to_owned()]
            })
            .collect(),
        folded: false,
    }
}

type Claim = (&'static str, String, bool);

/// The load of the largest table, for fingerprints of `bits` bits and more: the least of them.
fn load(data: &Data, panel: &str, bits: std::ops::RangeInclusive<u32>) -> f64 {
    let largest = data.lines(E::Figure2, panel).pop().unwrap_or_default();
    let line = data.line(E::Figure2, panel, &largest);
    let of =
        |&&(x, _): &&(f64, f64)| (f64::from(*bits.start())..=f64::from(*bits.end())).contains(&x);
    line.iter().filter(of).map(|point| point.1).fold(f64::NAN, f64::min)
}

fn loads(data: &Data) -> Vec<Claim> {
    let percent = |load: f64| format!("{:.1} %", load * 100.0);
    let (two, four, eight) =
        (load(data, "b = 2", 12..=20), load(data, "b = 4", 12..=20), load(data, "b = 8", 12..=20));
    let six = load(data, "b = 4", 6..=20);
    let copies = data.cell(E::Copies, "accepted", WALK);
    vec![
        ("Buckets of 2 fill to 84 %", percent(two), two > 0.84),
        ("Buckets of 4 fill to 95 %", percent(four), four > 0.945),
        ("Buckets of 8 fill to 98 %", percent(eight), eight > 0.975),
        ("Six bits are enough at b = 4", percent(six), six > 0.945),
        ("One item can be inserted 2b = 8 times", copies.to_string(), copies == 8.0),
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

fn table3(data: &Data) -> Vec<Claim> {
    let (rates, bits) = (order(data, "fpr, %"), order(data, "bits an item"));
    let speeds = order(data, "construction, M/s");
    let named = |(name, value): (&str, f64)| format!("{name}, {}", number(Some(value)));
    let (first, last) = (speeds[5], speeds[0]);
    let speed = |name: &str| data.largest_table3("construction, M/s", name);
    let (cuckoo, bloom) = (speed("CF"), speed("BF"));
    vec![
        ("ss-CF has the lowest false-positive rate", named(rates[0]) + " %", rates[0].0 == "ss-CF"),
        ("dl-CBF has the highest", named(rates[5]) + " %", rates[5].0 == "dl-CBF"),
        (
            "CF and ss-CF take the fewest bits an item",
            format!("{}; {}", named(bits[0]), named(bits[1])),
            bits[..2].iter().all(|(name, _)| ["CF", "ss-CF"].contains(name)),
        ),
        ("blk-BF is built fastest", named(first) + " M/s", first.0 == "blk-BF"),
        ("QF is built slowest", named(last) + " M/s", last.0 == "QF"),
        (
            "CF is built faster than BF",
            format!("{} and {} M/s", number(Some(cuckoo)), number(Some(bloom))),
            cuckoo > bloom,
        ),
    ]
}

fn speeds(data: &Data) -> Vec<Claim> {
    let mix = |name: &str, percent: f64| {
        let line = data.line(E::Figure5, "lookups", name);
        line.iter().find(|point| point.0 == percent).map_or(f64::NAN, |point| point.1)
    };
    let ends = |name: &str| (mix(name, 0.0), mix(name, 100.0));
    let slower = |(from, to): (f64, f64)| to < 0.8 * from;
    let text =
        |(from, to): (f64, f64)| format!("{} to {} M/s", number(Some(from)), number(Some(to)));
    let (cuckoo, bloom) = (ends("CF"), ends("BF"));
    // From the emptiest to the fullest.
    let filling = |experiment, panel: &str, name: &str| {
        let line = data.line(experiment, panel, name);
        let speed = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.1);
        (speed(line.first()), speed(line.last()))
    };
    let absent = filling(E::Figure6, "absent keys", "QF");
    let present = filling(E::Figure6, "present keys", "QF");
    let inserts = filling(E::Figure7, "inserts", "CF");
    let removal = |name: &str| {
        let line = data.line(E::Figure8, "removals", name);
        line.iter().map(|point| point.1).sum::<f64>() / line.len() as f64
    };
    let others = ["ss-CF", "QF", "dl-CBF"].map(|name| (name, removal(name)));
    let best = others.into_iter().fold(("", 0.0), |a, b| if b.1 > a.1 { b } else { a });
    let removes = removal("CF");
    vec![
        (
            "CF answers absent and present keys equally fast",
            text(cuckoo),
            (0.8..1.25).contains(&(cuckoo.1 / cuckoo.0)),
        ),
        ("BF gets slower with the share of present keys", text(bloom), bloom.1 < bloom.0),
        ("QF looks up absent keys much slower as it fills", text(absent), slower(absent)),
        ("QF looks up present keys much slower as it fills", text(present), slower(present)),
        ("CF inserts get slower as it fills", text(inserts), inserts.1 < inserts.0),
        (
            "CF removes fastest of the paper's four",
            format!("{} M/s; {} {}", number(Some(removes)), best.0, number(Some(best.1))),
            removes > best.1,
        ),
    ]
}
