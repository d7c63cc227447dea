//! What the paper says, and whether it came out here. Every verdict is computed from the results,
//! and says at which size and on which machine.

use super::data::{Data, FULL_MEGABYTES, Machine, line};
use super::table::Table;
use crate::paper::Experiment as E;
use crate::paper::copies::WALK;
use crate::paper::values::Value;
use crate::report::number;

/// MB up to which a table is taken to lie in a cache.
pub(super) const CACHED: f64 = 24.0;

/// The experiments of the statements on speeds.
const FIGURES: [E; 4] = [E::Figure5, E::Figure6, E::Figure7, E::Figure8];

/// A statement of the paper.
struct Claim {
    says: &'static str,
    found: String,
    holds: bool,
    /// What it was measured on: an experiment, and how large its tables were.
    at: (E, String),
}

/// Why not all of it holds.
pub(super) fn reasons(data: &Data) -> String {
    let size = data.megabytes();
    let mut text = String::new();
    if size < CACHED {
        text += &format!(
            "Tables of {size:.0} MB lie in a cache. There the nine reads of a Bloom filter are \
             cheap, and what an absent key costs it is the branch that stops at the first zero \
             and cannot be foreseen. "
        );
    }
    text + "A verdict on a speed is one on this machine and at this load: \"busy\" means that more \
            wanted to run than there are processors. Our quotient filter looks through 64 slots at \
            a time and moves whole words, so it is built faster than the paper's, and at 192 MB \
            its lookups of present keys wait for memory whatever its load. A processor of today \
            has the reads of several Bloom lookups on their way at once, where nothing depends on \
            them: so BF is built faster than CF, whose last inserts search, in memory too. \
            Removals of all four wait for memory alike."
}

/// The paper's statements, what was found, at which size and where, and whether they hold.
pub(super) fn table(data: &Data) -> Table {
    let claims: Vec<Claim> =
        loads(data).into_iter().chain(table3(data)).chain(all_speeds(data)).collect();
    let head = ["The paper says", "Found here", "Holds", "Size", "Command and machine"];
    Table {
        caption: "The paper's statements and what came out".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: claims.into_iter().map(|claim| row(data, claim)).collect(),
        folded: false,
    }
}

fn row(data: &Data, claim: Claim) -> Vec<String> {
    let (experiment, size) = claim.at;
    let full = size.starts_with("192 MB");
    let buckets = size.strip_prefix("2^").and_then(|rest| rest.split_once(' '));
    let is_large = |(log, _): &(&str, &str)| {
        let name = format!("m = 2^{log}");
        experiment == E::Figure2 && data.large_figure2.rows.iter().any(|row| row.series == name)
    };
    let machine = match data.full(experiment).filter(|_| full) {
        Some(found) => &found.machine,
        None if buckets.as_ref().is_some_and(is_large) => &data.large_figure2.machine,
        None => data.machine_of(experiment),
    };
    let holds = if claim.holds { "yes" } else { "no" };
    let scale = match (experiment, buckets) {
        (E::Figure2, Some((log, _))) => format!(" --buckets {log}"),
        _ if full => " --slots 27".to_owned(),
        _ => String::new(),
    };
    let how = format!("`paper {}{scale}`, {}", experiment.name(), place(machine));
    vec![claim.says.to_owned(), claim.found, holds.to_owned(), size, how]
}

/// A machine in a few words.
pub(super) fn place(machine: &Machine) -> String {
    let day = machine.get("date").split('T').next().unwrap_or_default();
    let busy = if machine.was_busy() { ", busy" } else { "" };
    let (cpu, cpus) = (machine.get("cpu"), machine.get("cpus"));
    let processors = if cpus == "1" { "processor" } else { "processors" };
    format!("{cpu}, {cpus} {processors}, {day}{busy}")
}

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

fn loads(data: &Data) -> Vec<Claim> {
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

fn table3(data: &Data) -> Vec<Claim> {
    let (rates, bits) = (order(data, "fpr, %"), order(data, "bits an item"));
    let speeds = order(data, "construction, M/s");
    let named = |(name, value): (&str, f64)| format!("{name}, {}", number(Some(value)));
    let (first, last) = (speeds[5], speeds[0]);
    let speed = |name: &str| data.largest_table3("construction, M/s", name);
    let (cuckoo, bloom) = (speed("CF"), speed("BF"));
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
            "CF is built faster than BF",
            format!("{} and {} M/s", number(Some(cuckoo)), number(Some(bloom))),
            cuckoo > bloom,
        ),
    ]
}

/// At the paper's size, if there are results, and at the small one: a cache decides some of them.
fn all_speeds(data: &Data) -> Vec<Claim> {
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

fn speeds<'a>(values: impl Fn(E) -> &'a [Value], megabytes: f64) -> Vec<Claim> {
    let mix = |name: &str, percent: f64| {
        let line = line(values(E::Figure5), "lookups", name);
        line.iter().find(|point| point.0 == percent).map_or(f64::NAN, |point| point.1)
    };
    let ends = |name: &str| (mix(name, 0.0), mix(name, 100.0));
    let slower = |(from, to): (f64, f64)| to < 0.8 * from;
    let text =
        |(from, to): (f64, f64)| format!("{} to {} M/s", number(Some(from)), number(Some(to)));
    let (cuckoo, bloom) = (ends("CF"), ends("BF"));
    // From the emptiest to the fullest.
    let filling = |experiment, panel: &str, name: &str| {
        let line = line(values(experiment), panel, name);
        let speed = |point: Option<&(f64, f64)>| point.map_or(f64::NAN, |point| point.1);
        (speed(line.first()), speed(line.last()))
    };
    let absent = filling(E::Figure6, "absent keys", "QF");
    let present = filling(E::Figure6, "present keys", "QF");
    let inserts = filling(E::Figure7, "inserts", "CF");
    let removal = |name: &str| {
        let line = line(values(E::Figure8), "removals", name);
        line.iter().map(|point| point.1).sum::<f64>() / line.len() as f64
    };
    let others = ["ss-CF", "QF", "dl-CBF"].map(|name| (name, removal(name)));
    let best = others.into_iter().fold(("", 0.0), |a, b| if b.1 > a.1 { b } else { a });
    let removes = removal("CF");
    let claim = |says, found, holds, experiment| {
        let size = format!("{megabytes:.0} MB");
        Claim { says, found, holds, at: (experiment, size) }
    };
    vec![
        claim(
            "CF answers absent and present keys equally fast",
            text(cuckoo),
            (0.8..1.25).contains(&(cuckoo.1 / cuckoo.0)),
            E::Figure5,
        ),
        claim(
            "BF gets slower with the share of present keys",
            text(bloom),
            bloom.1 < bloom.0,
            E::Figure5,
        ),
        claim(
            "QF looks up absent keys much slower as it fills",
            text(absent),
            slower(absent),
            E::Figure6,
        ),
        claim(
            "QF looks up present keys much slower as it fills",
            text(present),
            slower(present),
            E::Figure6,
        ),
        claim(
            "CF inserts get slower as it fills",
            text(inserts),
            inserts.1 < inserts.0,
            E::Figure7,
        ),
        claim(
            "CF removes fastest of the paper's four",
            format!("{} M/s; {} {}", number(Some(removes)), best.0, number(Some(best.1))),
            removes > best.1,
            E::Figure8,
        ),
    ]
}
