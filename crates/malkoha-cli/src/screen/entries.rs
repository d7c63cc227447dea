//! Lists whose lines are entries of some notation.

use std::path::Path;

use anyhow::{Result, bail};

use crate::failure::tell;
use crate::input::{List, name, split};

/// Lines of a list that were not understood.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    pub(super) lines: u64,
    /// The number of the first one, from 1, and its beginning.
    pub(super) first: Option<(u64, String)>,
    /// All lines of the list.
    all: u64,
}

/// Bytes of a line that are shown.
const SHOWN: usize = 60;

/// Calls `read`, which returns whether it understood the line, for each line and its number from 1.
pub(super) fn read_entries(
    list: &List,
    separator: u8,
    mut read: impl FnMut(&[u8], u64) -> bool,
) -> Result<Unread> {
    let mut unread = Unread::default();
    split(list, separator, |lines| {
        for line in lines {
            unread.all += 1;
            if !read(line, unread.all) {
                unread.lines += 1;
                let shown = || line[..line.len().min(SHOWN)].escape_ascii().to_string();
                unread.first.get_or_insert_with(|| (unread.all, shown()));
            }
        }
        Ok(())
    })?;
    Ok(unread)
}

impl Unread {
    /// Reports them; an error if there were no others.
    pub(crate) fn report(&self, path: &Path, what: &str) -> Result<()> {
        let Some((number, line)) = &self.first else { return Ok(()) };
        let list = name(path);
        if self.lines == self.all {
            bail!("list {list} has no {what}: line {number} is '{line}'");
        }
        tell(&format!(
            "malkoha: {} of {} lines of list {list} are no {what}, the first is line {number}: '{line}'",
            self.lines, self.all
        ));
        Ok(())
    }
}
