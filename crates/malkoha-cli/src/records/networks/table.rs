//! Rows of a table that decide about others: names of columns, and marks of hosts files.

use super::super::Unfit;
use super::super::blocks::{
    Line, Verdict, Word, is_harmless, is_of_allowed, is_of_blocked, is_state, meaning,
};
use super::super::range::range;
use super::super::ranges::words;
use super::headers::said;
use super::run::Found;
use super::vocabulary::NAMES;

/// Columns whose cells say what becomes of a row's networks, and the sign between them.
#[derive(Default)]
pub(super) struct Table {
    columns: Vec<(usize, Vec<u8>)>,
    sign: u8,
    is_of_hosts: bool,
}

impl Table {
    /// Takes the names of columns from a line, perhaps a comment, if it has some.
    pub(super) fn learn(&mut self, line: &[u8]) {
        let text = line.strip_prefix(b"#").unwrap_or(line).trim_ascii();
        let Some(sign) = b",;\t|".iter().find(|it| text.contains(it)) else { return };
        let is_name = |it: &u8| it.is_ascii_alphanumeric() || b"_- ".contains(it);
        let is_comment = text.len() < line.len();
        let names: Vec<_> = cells(text, *sign).collect();
        if !names.iter().all(|it| it.iter().all(is_name) && !(is_comment && it.contains(&b' '))) {
            return;
        }
        let says = |name: &[u8]| {
            use Word::{Action, Allowed, Disabled, Enabled, List, Not};
            matches!(meaning(name), Some(Action | Allowed | Disabled | Enabled | List | Not))
                || is_state(name)
                || is_harmless(name)
                || is_of_allowed(name)
                || is_of_blocked(name)
        };
        let names = names.into_iter().map(<[u8]>::to_ascii_lowercase).enumerate();
        let columns: Vec<_> = names.filter(|it| says(&it.1)).take(NAMES).collect();
        if !columns.is_empty() {
            (self.sign, self.columns) = (*sign, columns);
        }
    }

    /// The verdict on the networks of a row.
    pub(super) fn judge(&mut self, line: &[u8], found: Result<Found, Line>) -> Result<Found, Line> {
        self.is_of_hosts |=
            line.starts_with(b"127.0.0.1") && memchr::memmem::find(line, b"localhost").is_some();
        let mut words = words(line);
        if self.is_of_hosts
            && words.next().is_some_and(|it| range(it).is_some())
            && words.next().is_some_and(|it| it[0].is_ascii_alphabetic())
        {
            return Err(Line::Unfit(Unfit::Hosts));
        }
        let found = found?;
        match self.verdict(line).filter(|_| !found.is_empty()) {
            None | Some(Ok(false)) => Ok(found),
            Some(Ok(true)) => Ok(found.into_iter().map(|it| (it.0, true)).collect()),
            Some(Err(why)) => Err(Line::Unfit(why)),
        }
    }

    /// The verdict of the cells of a row, those that let it pass before others.
    fn verdict(&self, line: &[u8]) -> Option<Verdict> {
        if self.columns.is_empty() {
            return None;
        }
        let cells: Vec<_> = cells(line, self.sign).collect();
        let said = self.columns.iter().filter_map(|(at, name)| {
            let cell = cells.get(*at).filter(|it| !it.is_empty())?;
            said(meaning(name), name, cell)
        });
        said.max_by_key(|it| it.map_or(1, |passes| if passes { 2 } else { 0 }))
    }
}

/// The fields of a row, without quotes around them.
fn cells(line: &[u8], sign: u8) -> impl Iterator<Item = &[u8]> {
    let mut is_quoted = false;
    let cells = line.split(move |byte| {
        is_quoted ^= *byte == b'"';
        !is_quoted && *byte == sign
    });
    cells.map(|it| {
        let it = it.trim_ascii();
        it.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\"")).unwrap_or(it)
    })
}
