//! A stream without end through sets whose keys expire: space over time, and the longest work.
//!
//! Every second event has a new key. Those between have a key that was new at most half a
//! window before, so the set must contain it.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use malkoha::tables::{Ages, Expiring};
use malkoha::{Builder, ExpiringCuckooFilter, Filter, GrowableExpiringCuckooFilter};

use crate::args::StreamArgs;
use crate::keys::Keys;
use crate::machine::Machine;
use crate::measure::processor_time;
use crate::page::plot::{Axis, Line, Plot};
use crate::report::{Grid, Report};

const HEAD: [&str; 8] = [
    "kind",
    "events",
    "live keys",
    "MB",
    "bits/live key",
    "most µs for 64 events",
    "forgotten early",
    "new ones taken for known",
];
/// Events that are timed together: reading the processor's time takes as long as an event.
const GROUP: u64 = 64;
/// Points in time at which the sets are measured.
const POINTS: u64 = 200;
/// Points that the table shows.
const ROWS: u64 = 10;
/// Positions of random draws begin here.
const DRAWS: u64 = 1 << 62;

/// Runs the stream through a set of fixed size and one that grows.
///
/// # Errors
///
/// If a key was forgotten early or refused, or a file cannot be written.
pub fn report(args: &StreamArgs) -> Result<()> {
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    ensure!(args.live >= 2 && args.events >= POINTS, "at least 2 live keys and {POINTS} events");
    let title = format!("{} events with {} live keys", args.events, args.live);
    let mut grid = Grid::new(title, HEAD);
    let (mut lines, mut forgotten) = (Vec::new(), 0);
    let mut csv = args.csv.as_ref().map(csv::Writer::from_path).transpose()?;
    if let Some(csv) = &mut csv {
        csv.write_record(HEAD)?;
    }
    let ttl = 2 * args.live;
    let fixed: ExpiringCuckooFilter =
        Builder::new().capacity(args.live).fpr(args.fpr).expire_after(ttl).build()?;
    let growing: GrowableExpiringCuckooFilter =
        Builder::new().fpr(args.fpr).expire_after(ttl).build()?;
    let mut note = |kind: &str, points: Vec<Point>| -> Result<()> {
        for (number, point) in (1..).zip(&points) {
            let row = point.row(kind);
            if let Some(csv) = &mut csv {
                csv.write_record(&row)?;
            }
            if number % (POINTS / ROWS) == 0 {
                grid.row(row);
            }
        }
        forgotten += points.iter().map(|point| point.forgotten).sum::<u64>();
        let size = |point: &Point| (point.events as f64 / 1e6, point.bytes as f64 / 1e6);
        lines.push((kind.to_owned(), points.iter().map(size).collect()));
        Ok(())
    };
    note("fixed", run(args, fixed)?)?;
    note("growing", run(args, growing)?)?;
    print!("{grid}");
    if let Some(path) = &args.plot {
        fs::write(path, plot(args, &lines)?).with_context(|| path.display().to_string())?;
    }
    ensure!(forgotten == 0, "{forgotten} keys were forgotten early");
    Ok(())
}

/// What was seen up to a number of events, since the point before.
struct Point {
    events: u64,
    live: u64,
    bytes: u64,
    longest: Duration,
    forgotten: u64,
    mistaken: u64,
}

impl Point {
    fn row(&self, kind: &str) -> [String; 8] {
        [
            kind.to_owned(),
            self.events.to_string(),
            self.live.to_string(),
            format!("{:.2}", self.bytes as f64 / 1e6),
            format!("{:.2}", self.bytes as f64 * 8.0 / self.live.max(1) as f64),
            format!("{:.1}", self.longest.as_secs_f64() * 1e6),
            self.forgotten.to_string(),
            self.mistaken.to_string(),
        ]
    }
}

fn run<T: Ages>(args: &StreamArgs, mut set: Filter<Expiring<T>>) -> Result<Vec<Point>> {
    let keys = Keys::new(args.seed);
    let mut points = Vec::new();
    let mut event = 0;
    for point in 1..=POINTS {
        let until = args.events * point / POINTS;
        let (mut longest, mut forgotten, mut mistaken) = (Duration::ZERO, 0, 0);
        let mut before = processor_time();
        while event < until {
            for event in event..until.min(event + GROUP) {
                set.advance(event);
                let newest = event / 2;
                let is_new = event % 2 == 0;
                let known = (args.live / 2).min(newest + 1);
                let back = if is_new { 0 } else { keys.key(DRAWS + event) % known };
                let key = keys.key(newest - back);
                // A false positive refreshes the key that it is mistaken for.
                let was_new = if is_new { set.refresh(key)? } else { set.insert_unique(key)? };
                forgotten += u64::from(was_new && !is_new);
                mistaken += u64::from(!was_new && is_new);
            }
            event = until.min(event + GROUP);
            let now = processor_time();
            longest = longest.max(now.saturating_sub(before));
            before = now;
        }
        let (live, bytes) = (set.len(), set.size_in_bytes());
        points.push(Point { events: event, live, bytes, longest, forgotten, mistaken });
    }
    Ok(points)
}

fn plot(args: &StreamArgs, lines: &[Line]) -> Result<String> {
    let most = lines.iter().flat_map(|(_, points)| points).map(|&(_, size)| size);
    let most = most.fold(0.0, f64::max);
    let x = Axis {
        label: "million events",
        from: 0.0,
        to: args.events as f64 / 1e6,
        logarithmic: false,
    };
    let y = Axis { label: "MB", from: 0.0, to: most * 1.1, logarithmic: false };
    let title = format!("Memory of sets with {} live keys", args.live);
    Ok(Plot::new("stream.svg", &title, x, y, lines)?.standalone())
}
