//! Where lines are listed.

use memchr::memchr_iter;

use crate::input::Texts;

/// A line of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    /// The number of the list among those that are named, from 0.
    pub(crate) list: usize,
    /// The number of the line in it, from 1.
    pub(crate) line: u64,
}

/// Bytes between places whose line is known.
const STEP: usize = 4096;

/// How many lines of each list lie before some places.
pub(super) struct LineNumbers(Vec<Vec<u64>>);

impl LineNumbers {
    pub(super) fn of(texts: &Texts) -> Self {
        let separator = texts.separator();
        let of_list = |list: &[u8]| {
            let mut before = 0;
            let counted = list.chunks(STEP).map(|chunk| {
                let start = before;
                before += memchr_iter(separator, chunk).count() as u64;
                start
            });
            counted.collect()
        };
        Self(texts.lists().map(|(_, list)| of_list(list)).collect())
    }

    /// The number, from 1, of the line that begins at this distance from the beginning of a list.
    pub(super) fn of_line(&self, texts: &Texts, list: usize, offset: u64) -> u64 {
        let Some((_, text)) = texts.lists().nth(list) else { return 0 };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        // A line may begin at the end, but no step does.
        let step = (offset / STEP).min(self.0[list].len().saturating_sub(1));
        let before = self.0[list].get(step).copied().unwrap_or(0);
        before + memchr_iter(texts.separator(), &text[step * STEP..offset]).count() as u64 + 1
    }
}

/// Where a line of the first list begins, by its number from 1.
pub(super) fn place_of_line(texts: &Texts, line: u64) -> u64 {
    let before = usize::try_from(line).unwrap_or(usize::MAX).checked_sub(2);
    let list = texts.lists().next().map_or(&[][..], |(_, list)| list);
    let end = before.and_then(|n| memchr_iter(texts.separator(), list).nth(n));
    end.map_or(0, |end| end as u64 + 1)
}
