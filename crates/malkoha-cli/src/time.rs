//! Times as people write them: how long, and when. Both are in milliseconds, the latter since 1970
//! in UTC.

use std::time::{Duration, SystemTime};

use chrono::DateTime;
use malkoha::Clock;

/// Times before this one, in 1973, are not milliseconds since 1970, but another unit.
const LEAST: u64 = 100_000_000_000;

/// Parses `90s`, `24h` or `30days`.
pub(crate) fn duration(text: &str) -> Result<u64, String> {
    let duration = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(duration.as_millis()) {
        Ok(0) => Err("write at least 1ms".to_owned()),
        Ok(milliseconds) => Ok(milliseconds),
        Err(_) => Err("write fewer".to_owned()),
    }
}

/// A time as the user writes it.
pub(crate) const SPELLINGS: &str = "seconds since 1970, or UTC as in 2026-11-22T08:30:00Z";

/// Numbers from this one on count milliseconds, microseconds or nanoseconds: as seconds, they would
/// be after the year 5138, and the former until 1973.
const LEAST_OF_PARTS: f64 = 1e11;

/// Dates with an offset from UTC, the third as in logs of web servers. Where the day or the month
/// comes first, nobody knows which.
const DATES: [&str; 7] = [
    "%Y-%m-%dT%H:%M:%S%.f%z",
    "%Y-%m-%d %H:%M:%S%.f%z",
    "%d/%b/%Y:%H:%M:%S %z",
    "%Y%m%d%H%M%S%z",
    "%Y-%m-%dT%H:%M%z",
    "%Y-%m-%d %H:%M%z",
    "%Y%m%d%H%M%z",
];

/// Parses [`SPELLINGS`], and dates with an offset. A tab can be between their parts.
pub(crate) fn moment(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.trim().trim_matches(['[', ']']).replace('\t', " ");
    // A date without signs, as archives of the Web have it.
    let is_date = matches!(text.len(), 8 | 12 | 14)
        && (text.starts_with("19") || text.starts_with("20"))
        && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = || {
        if is_date {
            return None;
        }
        let mut number = text.parse::<f64>().ok()?;
        for _ in 0..3 {
            number /= if number < LEAST_OF_PARTS { 1.0 } else { 1e3 };
        }
        // To the nearest millisecond, because a fraction is not always exact.
        Some(Duration::try_from_secs_f64(number).ok()? + Duration::from_micros(500))
    };
    let date = || {
        // Years come first with either sign.
        let text = match text.split_once('/') {
            Some((year, _)) if year.len() == 4 => text.replacen('/', "-", 2),
            _ => text.clone(),
        };
        let midnight = match text.len() {
            8 => "0000",
            10 => " 00:00",
            _ => "",
        };
        let utc = format!("{}{midnight}+0000", text.strip_suffix('Z').unwrap_or(&text));
        let both = [text.as_str(), &utc].into_iter();
        let mut dates =
            both.flat_map(|it| DATES.iter().flat_map(|date| DateTime::parse_from_str(it, date)));
        Some(Duration::from_millis(dates.next()?.timestamp_millis().try_into().ok()?))
    };
    u64::try_from(seconds().or_else(date)?.as_millis()).ok()
}

/// This many milliseconds in words.
pub(crate) fn in_words(milliseconds: u64) -> String {
    humantime::format_duration(Duration::from_millis(milliseconds)).to_string()
}

/// A moment as a date, if it is one.
pub(crate) fn date(moment: u64) -> Option<String> {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(moment))?;
    let is_a_date = (LEAST..253_402_300_800_000).contains(&moment);
    is_a_date.then(|| humantime::format_rfc3339_seconds(time).to_string())
}

/// Whether a filter's latest time can come from the clock. A filter without lines has no time yet.
pub(crate) fn can_be_clocks(last: u64) -> bool {
    last == 0 || last >= LEAST
}

/// The time at which a filter with expiring lines is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    Clock,
    /// The filter's latest time.
    File,
    At(u64),
}

impl Now {
    /// Parses what `--now` takes.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "clock" => Ok(Self::Clock),
            "file" => Ok(Self::File),
            text => moment(text.as_bytes())
                .map(Self::At)
                .ok_or_else(|| format!("write 'file', 'clock', or a time: {SPELLINGS}")),
        }
    }

    /// The time for a filter whose latest time is `last`. If that is in another unit, it comes from
    /// a program with its own clock, which is not known here.
    pub(crate) fn of(self, last: u64) -> u64 {
        match self {
            Self::Clock if can_be_clocks(last) => Clock::start().now().max(last),
            Self::At(time) => time.max(last),
            Self::Clock | Self::File => last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_several_spellings() {
        let spellings = [
            "1792143000",
            "1792143000.000",
            "1792143000000",
            "1792143000000000",
            "1792143000000000000",
            "2026-10-16T09:30:00Z",
            "[2026-10-16 09:30:00]",
            "2026-10-16\t09:30:00",
            "2026-10-16T11:30:00.000+02:00",
            "2026-10-16 05:00:00-0430",
            "16/Oct/2026:11:30:00 +0200",
            "[16/Oct/2026:09:30:00\t+0000]",
            "20261016093000",
            "2026-10-16T09:30",
            "2026-10-16 09:30Z",
            "2026/10/16 09:30:00",
            "2026/10/16 11:30+0200",
            "202610160930",
        ];
        for text in ["2026-10-16", "2026/10/16", "20261016", "2026-10-16T00:00"] {
            assert_eq!(moment(text.as_bytes()), Some(1_792_108_800_000), "{text}");
        }
        // The day or the month.
        for text in ["10/11/2026 09:30", "16.10.2026", "20261316", "2026-10", "09:30"] {
            assert_eq!(moment(text.as_bytes()), None, "{text}");
        }
        for text in spellings {
            assert_eq!(moment(text.as_bytes()), Some(1_792_143_000_000), "{text}");
        }
        for text in ["", "-1", "yesterday", "1e400", "nan", "2026-13-01T00:00:00Z", "\u{fffd}"] {
            assert_eq!(moment(text.as_bytes()), None, "{text}");
        }
        assert_eq!(moment(b"1792143000123"), Some(1_792_143_000_123));
        assert_eq!(moment(b"99999999999"), Some(99_999_999_999_000));
        assert_eq!((duration("24h"), duration("90s")), (Ok(86_400_000), Ok(90_000)));
        assert!(duration("0s").is_err() && duration("day").is_err());
        assert_eq!(date(1_792_143_000_000).unwrap(), "2026-10-16T09:30:00Z");
        assert_eq!((date(5), date(u64::MAX), in_words(5_760_000)), (None, None, "1h 36m".into()));
    }

    #[test]
    fn a_filter_of_another_clock_keeps_its_time() {
        let second = Now::parse("1792143000").unwrap();
        assert_eq!(second, Now::At(1_792_143_000_000));
        assert_eq!((second.of(5), second.of(u64::MAX)), (1_792_143_000_000, u64::MAX));
        assert_eq!(Now::parse("file"), Ok(Now::File));
        assert_eq!((Now::File.of(7), Now::Clock.of(7)), (7, 7));
        assert!(Now::Clock.of(LEAST) > 1_700_000_000_000 && Now::Clock.of(0) > LEAST);
        assert!(Now::parse("today").is_err());
    }
}
