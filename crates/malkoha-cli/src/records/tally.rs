//! Records that cannot take part: counted, and reported with the place of the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Result, bail};
use parking_lot::Mutex;

use super::networks::Place;
use super::unfit::{REPORTED, Unfit};
use crate::failure;

/// How many records of each file cannot be compared.
#[derive(Debug)]
pub(crate) struct Tally {
    files: Vec<File>,
    /// Whether these are lists.
    pub(super) of_lists: bool,
    /// The first such record is an error.
    strict: bool,
    /// How the fields that are compared are called, if fields are.
    field: Option<String>,
    /// So many records with empty fields are reported.
    least_empty: AtomicU64,
}

#[derive(Debug)]
struct File {
    name: String,
    all: AtomicU64,
    /// Records that are not compared.
    unfit: Noted,
    /// Records that are, but are reported, by the reason.
    reported: [Noted; REPORTED.len()],
    looked_at: AtomicBool,
    /// No more keys of it are kept to be looked at.
    was_kept: AtomicBool,
}

impl File {
    fn noted(&self, why: Unfit) -> &Noted {
        REPORTED.iter().position(|it| *it == why).map_or(&self.unfit, |at| &self.reported[at])
    }
}

#[derive(Debug, Default)]
struct Noted {
    count: AtomicU64,
    first: Mutex<Option<First>>,
}

#[derive(Clone, Debug)]
struct First {
    /// The lines before the source that has it, and its offset there.
    at: (u64, usize),
    line: u64,
    record: String,
    why: Unfit,
    /// The line because of which it is so, if it is another one, as text.
    under: String,
}

impl First {
    fn place(&self, of_file: &str) -> String {
        let Self { line, record, under, .. } = self;
        format!("line {line}{of_file}, '{record}'{under}")
    }
}

/// Bytes of a record that are shown.
const SHOWN: usize = 60;

/// The beginning of some bytes, as text.
pub(crate) fn shown(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(SHOWN)].escape_ascii().to_string()
}

/// All of them; those of inputs are reported at the end.
static ALL: Mutex<Vec<Arc<Tally>>> = Mutex::new(Vec::new());

/// Reports the records of inputs that could not be compared, or seem to be mistakes.
pub(crate) fn tell() {
    let (lists, inputs): (Vec<_>, Vec<_>) = ALL.lock().drain(..).partition(|it| it.of_lists);
    let listed = lists.iter().find_map(|list| list.noted(|file| file.noted(Unfit::Empty)));
    for tally in inputs {
        tally.tell_input();
        tally.tell_empty_fields(listed.as_ref().map(|&(_, name, _)| name));
    }
}

impl Tally {
    /// Of files with these names.
    pub(super) fn new(
        names: Vec<String>,
        of_lists: bool,
        strict: bool,
        field: Option<String>,
    ) -> Arc<Self> {
        let file = |name| File {
            name,
            all: AtomicU64::new(0),
            unfit: Noted::default(),
            reported: Default::default(),
            looked_at: AtomicBool::new(false),
            was_kept: AtomicBool::new(false),
        };
        let (files, least_empty) = (names.into_iter().map(file).collect(), AtomicU64::new(2));
        let tally = Arc::new(Self { files, of_lists, strict, field, least_empty });
        ALL.lock().push(Arc::clone(&tally));
        tally
    }

    /// Whether a record whose key is empty is counted.
    pub(super) fn notes_empty(&self, record: &[u8]) -> bool {
        self.of_lists || self.field.is_some() && !record.trim_ascii().is_empty()
    }

    /// So many records with empty fields are reported; else two, which are equal to each other.
    pub(crate) fn tell_empty_from(&self, least: u64) {
        self.least_empty.store(least, Ordering::Relaxed);
    }

    /// Whether a record has empty fields.
    pub(crate) fn has_empty(&self) -> bool {
        self.noted(|file| file.noted(Unfit::Empty)).is_some()
    }

    /// Whether a file has not been looked at.
    pub(super) fn is_new(&self, file: usize) -> bool {
        !self.files[file].looked_at.swap(true, Ordering::Relaxed)
    }

    /// Whether keys of a file are still kept to be looked at.
    pub(crate) fn keeps(&self, file: usize) -> bool {
        !self.files[file].was_kept.load(Ordering::Relaxed)
    }

    pub(super) fn keep_no_more(&self, file: usize) {
        self.files[file].was_kept.store(true, Ordering::Relaxed);
    }

    pub(crate) fn name(&self, file: usize) -> &str {
        &self.files[file].name
    }

    pub(super) fn add(&self, file: usize, records: u64) {
        self.files[file].all.fetch_add(records, Ordering::Relaxed);
    }

    /// Counts further records that cannot be compared.
    pub(super) fn add_unfit(&self, file: usize, records: u64) {
        self.files[file].unfit.count.fetch_add(records, Ordering::Relaxed);
    }

    /// How many records a file has, how many of them cannot be compared, and the line of the first
    /// of these.
    pub(crate) fn counted(&self, file: usize) -> [u64; 3] {
        let File { all, unfit, .. } = &self.files[file];
        let first = unfit.first.lock().as_ref().map_or(0, |first| first.line);
        [all.load(Ordering::Relaxed), unfit.count.load(Ordering::Relaxed), first]
    }

    /// Counts a record that begins at a place. `line` tells its line, if it is the first.
    pub(crate) fn note(
        &self,
        file: usize,
        record: &[u8],
        why: Unfit,
        at: (u64, usize),
        line: impl FnOnce() -> u64,
    ) -> Result<()> {
        let file = &self.files[file];
        let noted = file.noted(why);
        noted.count.fetch_add(1, Ordering::Relaxed);
        let mut first = noted.first.lock();
        // A line with an entry is of more interest than the titles of a list.
        let rank = |why, at| (matches!(why, Unfit::NoDomain | Unfit::NoNetwork), at);
        // Looking for the line is work.
        if first.as_ref().is_none_or(|first| rank(first.why, first.at) > rank(why, at)) {
            let (record, under) = (shown(record), String::new());
            *first = Some(First { at, line: line(), record, why, under });
        }
        if self.strict
            && (!why.takes_part() || matches!(why, Unfit::Long | Unfit::Behind | Unfit::NoTime))
        {
            bail!("line {} of {} {why}: '{}'", line_of(&first), file.name, shown(record));
        }
        Ok(())
    }

    /// Adds to the record that begins at a place because of which line it is so, if it is shown.
    pub(super) fn note_under(&self, file: usize, why: Unfit, at: (u64, usize), under: &Place) {
        let mut first = self.files[file].noted(why).first.lock();
        if let Some(first) = first.as_mut().filter(|first| first.at == at) {
            first.under = format!(", under line {}, '{}'", under.0, shown(&under.1));
        }
    }

    /// An error if nothing of a file can be compared. Reports other records of lists that cannot.
    pub(crate) fn settle(&self) -> Result<()> {
        let of = if self.of_lists { "list " } else { "" };
        for File { name, all, unfit, .. } in &self.files {
            let all_are = unfit.count.load(Ordering::Relaxed) == all.load(Ordering::Relaxed);
            if let Some(first) = unfit.first.lock().take_if(|_| all_are) {
                let (place, why) = (first.place(""), first.why);
                bail!("nothing in {of}{name} can be compared: {place}, {why}");
            }
        }
        if self.of_lists {
            self.tell_lists();
        }
        Ok(())
    }

    fn tell_lists(&self) {
        for (file, File { name, all, unfit, reported, .. }) in self.files.iter().enumerate() {
            // Nothing of it was read.
            if self.is_new(file) {
                self.tell_empty(file);
            }
            let all = all.load(Ordering::Relaxed);
            let reported = reported.iter().zip(REPORTED).filter(|it| it.1 != Unfit::Empty);
            for noted in [unfit].into_iter().chain(reported.map(|it| it.0)) {
                let Some(first) = noted.first.lock().clone() else { continue };
                let count = noted.count.load(Ordering::Relaxed);
                let ((what, why), place) = (said(first.why, count), first.place(""));
                failure::tell(&format!(
                    "malkoha: {count} of {all} records of list {name} {what}: the first, {place}{why}"
                ));
            }
        }
    }

    /// Reports a list without entries.
    pub(crate) fn tell_empty(&self, file: usize) {
        failure::tell(&format!("malkoha: list {} has no entries", self.name(file)));
    }

    fn tell_input(&self) {
        if self.strict {
            return;
        }
        let reasons = [Unfit::NoTime, Unfit::Long, Unfit::Behind];
        let reported = reasons.map(|why| self.noted(|file| file.noted(why)));
        let all = [self.noted(|file| &file.unfit)].into_iter().chain(reported);
        for (count, name, first) in all.flatten() {
            let ((what, why), count) = (said(first.why, count), records(count));
            let place = first.place(&format!(" of {name}"));
            failure::tell(&format!("malkoha: {count} {what}: the first, {place}{why}"));
        }
    }

    /// Reports records that were equal because their fields are empty, perhaps to those of a list.
    fn tell_empty_fields(&self, list: Option<&str>) {
        let least = self.least_empty.load(Ordering::Relaxed);
        let noted =
            self.noted(|file| file.noted(Unfit::Empty)).filter(|&(count, ..)| count >= least);
        let Some((count, name, first)) = noted else { return };
        let Some(field) = &self.field else { return };
        let to = list.map_or("any other".into(), |list| format!("that of list {list}"));
        let has = if count == 1 { "has" } else { "have" };
        failure::tell(&format!(
            "malkoha: {} {has} an empty {field}, or a word like NULL there, which equals {to}: the \
             first, {}",
            records(count),
            first.place(&format!(" of {name}"))
        ));
    }

    /// How many records of all files were noted for a reason, and the first with its file.
    fn noted(&self, of: impl Fn(&File) -> &Noted) -> Option<(u64, &str, First)> {
        let count = self.files.iter().map(|file| of(file).count.load(Ordering::Relaxed)).sum();
        let mut firsts = self.files.iter().map(|file| (&*file.name, of(file).first.lock().clone()));
        firsts.find_map(|(name, first)| Some((count, name, first?)))
    }
}

fn line_of(first: &Option<First>) -> u64 {
    first.as_ref().map_or(0, |first| first.line)
}

/// The message about a number of records, and what follows the place of the first.
fn said(why: Unfit, count: u64) -> (String, String) {
    match why {
        Unfit::NoTime => ("counted as of the time before".into(), format!(", {why}")),
        _ if why.takes_part() => (why.said(count), String::new()),
        _ => ("cannot be compared".into(), format!(", {why}")),
    }
}

fn records(count: u64) -> String {
    if count == 1 { "1 record".into() } else { format!("{count} records") }
}
