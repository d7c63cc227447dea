//! Command-line options, shared by `lab` and `lab-peers`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

/// Where results go.
#[derive(Args, Clone, Debug)]
pub struct OutputArgs {
    /// Write the results to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// A count such as `20000`, `100k`, `127.78M` or `1.2e8`.
///
/// # Errors
///
/// If the text is not a count, or not a positive whole number.
pub fn parse_count(text: &str) -> Result<u64> {
    let (digits, factor) = match text.char_indices().last() {
        Some((end, 'k')) => (&text[..end], 1e3),
        Some((end, 'M')) => (&text[..end], 1e6),
        Some((end, 'G')) => (&text[..end], 1e9),
        _ => (text, 1.0),
    };
    let number: f64 = digits.parse().with_context(|| format!("{text:?} is not a number"))?;
    let count = (number * factor).round();
    ensure!((1.0..1e15).contains(&count), "{text:?} is out of range");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let count = count as u64;
    Ok(count)
}

/// Those that were asked for by name; all, if none was.
///
/// # Errors
///
/// If there is none of a name.
pub fn chosen<T>(all: Vec<T>, only: &[String], name: impl Fn(&T) -> &str) -> Result<Vec<T>> {
    let names: Vec<&str> = all.iter().map(&name).collect();
    if let Some(unknown) = only.iter().find(|only| !names.contains(&only.as_str())) {
        bail!("--only {unknown:?}: there are {}", names.join("; "));
    }
    let wanted = |it: &T| only.is_empty() || only.iter().any(|only| only == name(it));
    Ok(all.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_chosen_or_refused_with_those_there_are() {
        let all = || vec!["a", "b, c", "d"];
        let only = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let chosen = |names| chosen(all(), &only(names), |name| name);
        assert_eq!(chosen(&["d", "a"]).unwrap(), ["a", "d"]);
        assert_eq!(chosen(&[]).unwrap(), all());
        let error = chosen(&["a", "e"]).unwrap_err().to_string();
        assert!(error.contains("\"e\"") && error.contains("b, c"), "{error}");
    }

    #[test]
    fn counts_are_written_as_people_write_them() {
        assert_eq!(parse_count("20000").unwrap(), 20_000);
        assert_eq!(parse_count("100k").unwrap(), 100_000);
        assert_eq!(parse_count("127.78M").unwrap(), 127_780_000);
        assert_eq!(parse_count("1.2e8").unwrap(), 120_000_000);
        for wrong in ["", "k", "-1", "0", "NaN", "1e20", "10 M"] {
            assert!(parse_count(wrong).is_err(), "{wrong:?}");
        }
    }
}
