//! First occurrences within a time: lines by arrival, or by a time that they have.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use malkoha::{Clock, GrowableExpiringCuckooFilter};

use super::{Arguments, DEFAULT_FPR, Stats};
use crate::failure::CANNOT_WRITE;
use crate::input::{Block, Hashed, Inputs, split};
use crate::keys::Keys;
use crate::output::LineWriter;
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;

/// Bytes of a field that an error shows.
const SHOWN: usize = 40;

/// Parses `90s`, `24h` or `30days`, as milliseconds.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(duration.as_millis()) {
        Ok(0) => Err("write at least 1ms".to_owned()),
        Ok(milliseconds) => Ok(milliseconds),
        Err(_) => Err("write fewer".to_owned()),
    }
}

pub(super) fn run(
    arguments: &Arguments,
    within: u64,
    inputs: &Inputs,
    progress: &Progress,
) -> Result<Stats> {
    let seen = GrowableExpiringCuckooFilter::builder()
        .capacity(arguments.capacity)
        .fpr(arguments.fpr.unwrap_or(DEFAULT_FPR))
        .expire_after(within)
        .with_hasher(arguments.seed.hasher())
        .build()?;
    let (hasher, separator) = (seen.hasher(), inputs.separator());
    let uniq = Uniq {
        seen,
        clock: arguments.time_field.is_none().then(Clock::start),
        renew: arguments.renew,
        repeated: arguments.repeated,
        out: LineWriter::stdout(separator, arguments.print.line_buffered)?,
        stats: Stats { lines: 0, distinct: 0, printed: 0, bytes: 0, fpr: None },
    };
    let keys = arguments.keys.keys();
    let field = arguments.time_field.as_deref().map(|field| arguments.keys.field(field));
    let field = field.transpose().map_err(anyhow::Error::msg)?;
    let work = move |block: &Block, timed: &mut Timed| {
        timed.lines.fill(block.lines(), separator, &keys, hasher)?;
        if let Some(field) = &field {
            timed.read_times(block.lines(), separator, field)?;
        }
        Ok(())
    };
    let threads = arguments.threads.threads();
    let Uniq { seen, out, mut stats, .. } = in_order(inputs, progress, threads, work, uniq)?;
    out.finish().context(CANNOT_WRITE)?;
    (stats.distinct, stats.bytes) = (seen.len(), seen.size_in_bytes());
    stats.fpr = Some(seen.expected_fpr());
    Ok(stats)
}

/// A block of lines, and the time of each, if lines have one.
#[derive(Default)]
struct Timed {
    lines: Hashed,
    /// Milliseconds since 1970.
    times: Vec<u64>,
}

impl Timed {
    fn read_times(&mut self, text: &[u8], separator: u8, field: &Keys) -> Result<()> {
        split(text, separator, |lines| {
            field.with(lines, |fields| {
                for field in fields {
                    self.times.push(time(field)?);
                }
                Ok(())
            })
        })
    }
}

/// The time that a field says, in milliseconds since 1970.
fn time(field: &[u8]) -> Result<u64> {
    let text = std::str::from_utf8(field).ok().map(|text| text.trim().trim_matches(['[', ']']));
    let since_1970 = text.and_then(|text| {
        let seconds = || Duration::try_from_secs_f64(text.parse().ok()?).ok();
        let date =
            || humantime::parse_rfc3339_weak(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok();
        seconds().or_else(date)
    });
    match since_1970.map(|time| u64::try_from(time.as_millis())) {
        Some(Ok(time)) => Ok(time),
        _ => bail!(
            "'{}' is no time: --time-field takes seconds since 1970 and UTC as in \
             2026-11-22T08:30:00Z",
            field[..field.len().min(SHOWN)].escape_ascii()
        ),
    }
}

/// What knows which lines are new, in their order, and prints them.
struct Uniq {
    seen: GrowableExpiringCuckooFilter,
    /// What tells the time, if lines do not.
    clock: Option<Clock>,
    renew: bool,
    repeated: bool,
    out: LineWriter,
    stats: Stats,
}

impl Sink for Uniq {
    type Made = Timed;

    fn take(&mut self, timed: &mut Timed) -> Result<()> {
        if let Some(clock) = &self.clock {
            self.seen.advance(clock.now());
        }
        for (i, (line, &hash)) in timed.lines.lines().zip(&timed.lines.hashes).enumerate() {
            if let Some(&time) = timed.times.get(i) {
                self.seen.advance(time);
            }
            let new = if self.renew {
                self.seen.refresh_hash(hash)?
            } else {
                self.seen.insert_unique_hash(hash)?
            };
            if new != self.repeated {
                self.stats.printed += 1;
                self.out.write(line).context(CANNOT_WRITE)?;
            }
        }
        self.stats.lines += timed.lines.hashes.len() as u64;
        timed.lines.clear();
        timed.times.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_several_spellings() {
        let spellings =
            ["1792143000", "1792143000.000", "2026-10-16T09:30:00Z", "[2026-10-16 09:30:00]"];
        for text in spellings {
            assert_eq!(time(text.as_bytes()).unwrap(), 1_792_143_000_000, "{text}");
        }
        for text in ["", "-1", "yesterday", "1e400", "2026-13-01T00:00:00Z", "\u{fffd}"] {
            assert!(time(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!((duration("24h"), duration("90s")), (Ok(86_400_000), Ok(90_000)));
        assert!(duration("0s").is_err() && duration("day").is_err());
    }
}
