//! Keys that would be equal to one of the other side if they were written otherwise: few of them
//! prove how the sides differ, whatever most keys look like.
//!
//! One side stands: it was read before. What some of its keys would be without their looks is kept,
//! and the keys of the other side are looked up there. What some of those would be is looked up
//! where they themselves were.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Result;
use parking_lot::Mutex;

use super::forms::{Forms, MOST_BYTES, forms_of, is_plain, looks};
use super::looks::Look;
use crate::records::batch::Batch;
use crate::records::tally::Tally;

/// All keys up to this number are looked at, and of as many others one in 2, in 4 and so on.
const DENSE: usize = 1024;

/// Fewer prove nothing.
const LEAST: usize = 2;

/// Keys of a look that are counted.
const MOST_COUNTED: usize = 1000;

/// What was proved.
struct Proved {
    /// Keys that are not equal to any of the other side.
    unequal: AtomicUsize,
    /// Forms that were looked up.
    tries: AtomicUsize,
    found: Mutex<Vec<Found>>,
    /// A file has another form than it is read in, which tells more.
    is_misread: AtomicBool,
}

static PROVED: Proved = Proved {
    unequal: AtomicUsize::new(0),
    tries: AtomicUsize::new(0),
    found: Mutex::new(Vec::new()),
    is_misread: AtomicBool::new(false),
};

/// Nothing is proved by a file that is misread.
pub(super) fn is_misread() {
    PROVED.is_misread.store(true, Ordering::Relaxed);
}

/// Keys of one look.
pub(super) struct Found {
    number: usize,
    /// The file whose keys have it, and the other one, where it is known.
    pub(super) with: String,
    pub(super) without: Option<String>,
    /// What they would be.
    pub(super) forms: BTreeSet<Vec<u8>>,
}

impl Found {
    /// None if they differ in case and signs.
    pub(super) fn look(&self) -> Option<&'static Look> {
        looks().nth(self.number)
    }
}

/// Notes that a key of a file would be this form, which another file has, without a look.
pub(super) fn note(number: usize, with: &str, without: Option<&str>, form: &[u8]) {
    let mut all = PROVED.found.lock();
    let is_it =
        |it: &Found| it.number == number && it.with == with && it.without.as_deref() == without;
    let at = all.iter().position(is_it).unwrap_or_else(|| {
        let (with, without) = (with.to_owned(), without.map(str::to_owned));
        all.push(Found { number, with, without, forms: BTreeSet::new() });
        all.len() - 1
    });
    if all[at].forms.len() < MOST_COUNTED {
        all[at].forms.insert(form.to_vec());
    }
}

/// What was proved: the looks of more keys than are found by mistake, at this rate.
pub(super) fn proved(fpr: f64) -> Vec<Found> {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let mistakes = 10.0 * fpr * PROVED.tries.load(Ordering::Relaxed) as f64;
    let mut found = std::mem::take(&mut *PROVED.found.lock());
    let is_told = !PROVED.is_misread.load(Ordering::Relaxed);
    #[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
    found.retain(|it| is_told && it.forms.len() >= LEAST && it.forms.len() as f64 > mistakes);
    found.sort_by_key(|it| it.number);
    found
}

impl Batch<'_, '_> {
    /// Looks at keys that are not equal to any of the other side. `find` returns the number of a
    /// key that is in the other side, and the file that has it, if it is known.
    pub(crate) fn prove(
        &self,
        tally: &Tally,
        unequal: usize,
        is_unequal: impl Fn(usize) -> bool,
        others: &[&Forms],
        find: impl Fn(&[&[u8]]) -> Result<Option<(usize, Option<String>)>>,
    ) -> Result<()> {
        if unequal == 0 {
            return Ok(());
        }
        let name = tally.name(self.file());
        for other in others.iter().filter(|it| !it.is_empty()) {
            for (i, key) in self.keys.iter().enumerate().filter(|(_, key)| !key.is_empty()) {
                if let Some((look, of)) = other.get(key).filter(|_| is_unequal(i)) {
                    note(look, of, Some(name), key);
                }
            }
        }
        for Candidate { forms, .. } in self.candidates(unequal, is_unequal) {
            let texts: Vec<&[u8]> = forms.iter().map(|(_, form)| &form[..]).collect();
            let known = |text: &&[u8]| others.iter().find_map(|it| it.get(text));
            let mut known = texts.iter().map(known).enumerate();
            let known = || known.find_map(|(n, of)| Some((n, Some(of?.1.to_owned()))));
            if let Some((n, of)) = find(&texts)?.or_else(known) {
                note(forms[n].0, tally.name(self.file()), of.as_deref(), texts[n]);
            }
        }
        Ok(())
    }

    /// What some of these keys would be without their looks, given how many are of interest.
    pub(crate) fn candidates(
        &self,
        count: usize,
        is_of_interest: impl Fn(usize) -> bool,
    ) -> Vec<Candidate> {
        let before = PROVED.unequal.fetch_add(count, Ordering::Relaxed);
        let digests = self.keys_of.are_digests().then(|| self.keys_of.before_digests());
        let mut candidates = Vec::new();
        for i in (0..self.len()).step_by((before / DENSE).next_power_of_two()) {
            let mut key = Vec::new();
            let key = match &digests {
                Some((keys, _)) if keys.key_of(self.records[i], &mut key).is_err() => continue,
                Some(_) => &key,
                None => self.keys[i],
            };
            if key.len() > MOST_BYTES || is_plain(key) || !is_of_interest(i) {
                continue;
            }
            let mut forms = forms_of(key);
            if let Some((_, digest)) = &digests {
                forms.iter_mut().for_each(|(_, form)| digest.apply(form));
            }
            PROVED.tries.fetch_add(forms.len(), Ordering::Relaxed);
            candidates.push(Candidate { record: i, forms });
        }
        candidates
    }
}

/// What the key of a record would be without its looks.
pub(crate) struct Candidate {
    pub(crate) record: usize,
    forms: Vec<(usize, Vec<u8>)>,
}

impl Candidate {
    /// The same, with another number of its record.
    pub(crate) fn at(self, record: usize) -> Self {
        Self { record, ..self }
    }

    /// The first form that is in.
    pub(crate) fn find(&self, is_in: impl Fn(&[u8]) -> bool) -> Option<Known<'_>> {
        let (look, form) = self.forms.iter().find(|(_, form)| is_in(form))?;
        Some(Known { look: *look, form })
    }
}

/// What the key of a record would be, which is known.
pub(crate) struct Known<'a> {
    look: usize,
    form: &'a [u8],
}

impl Known<'_> {
    /// Notes that a record of this file is not equal to any, and would be.
    pub(crate) fn prove(&self, name: &str) {
        note(self.look, name, None, self.form);
    }
}
