//! Keys that would be equal to one of the other side if they were written otherwise: few of them
//! prove how the sides differ, whatever most keys look like.
//!
//! One side stands: it was read before. What some of its keys would be without their looks is kept,
//! and the keys of the other side are looked up there. What some of those would be is looked up
//! where they themselves were.

use std::sync::atomic::Ordering;

use anyhow::Result;

use super::fields::Parted;
use super::forms::{Form, Forms, is_plain};
use super::found::{PROVED, is_any_equal, keep_parted, note};
use super::looks::{SQUEEZED, looks};
use crate::records::batch::Batch;
use crate::records::keys::Keys;

/// All keys up to this number are looked at, and of as many others one in 2, in 4 and so on; fewer
/// if this many had looks.
const DENSE: usize = 256;

/// Of this many that have looks, fields are looked up, and of one in this many others.
const DENSE_FIELDS: usize = 128;
const SPARSE_FIELDS: usize = 16;

/// This many keys are looked up with looks, and one in this many others.
const DENSE_WITH: usize = 64;

/// The look that keys of both sides have, if they are the same without the look of one and that of
/// the other.
fn both(one: usize, other: usize) -> Option<usize> {
    let of = |number| looks().nth(number).filter(|it| it.folds);
    let (one_look, other_look) = (of(one)?, of(other)?);
    let is_weak = one_look.is_weak() || other_look.is_weak();
    Some(if is_weak { SQUEEZED } else { one.max(other) })
}

/// Takes the number of a key that is in the other side, and the file that has it, if it is known.
pub(crate) type EachFound<'a> = dyn FnMut(usize, Option<&str>) + 'a;

/// Looks keys up that are not equal to any of the other side.
pub(crate) type Find<'a> = dyn Fn(&[&[u8]], &mut EachFound<'_>) -> Result<()> + 'a;

impl Batch<'_, '_> {
    /// Looks at keys that are not equal to any of the other side.
    pub(crate) fn prove(
        &self,
        unequal: usize,
        is_unequal: impl Fn(usize) -> bool,
        forms: &[&Forms],
        find: &Find<'_>,
    ) -> Result<()> {
        let Some(tally) = self.tally().filter(|_| unequal > 0) else { return Ok(()) };
        let name = tally.name(self.file());
        for other in forms.iter().filter(|it| !it.is_empty()) {
            for (i, key) in self.keys.iter().enumerate().filter(|(_, key)| !key.is_empty()) {
                if let Some((look, of, at)) = other.get(key).filter(|_| is_unequal(i)) {
                    note(look, [Some(of), Some(name)], key, at);
                }
            }
        }
        // If they are not known, keys of the other side may have looks.
        for candidate in self.candidates(unequal, forms.is_empty(), is_unequal) {
            let texts: Vec<&[u8]> = candidate.forms.iter().map(|it| &it.0.text[..]).collect();
            find(&texts, &mut |i, of| candidate.note(i, name, of))?;
            // Both may have it.
            for (Form { look, text, .. }, _) in &candidate.forms {
                if let Some((other, of, _)) = forms.iter().find_map(|it| it.get(text))
                    && let Some(look) = both(*look, other)
                {
                    note(look, [Some(name), Some(of)], text, (0, 0));
                }
            }
        }
        Ok(())
    }

    /// The same, given which keys are equal to one. `find` sets which keys are in the other side.
    pub(crate) fn prove_by(
        &self,
        found: &[bool],
        forms: &[&Forms],
        find: impl Fn(&[&[u8]], &mut [bool]) -> Result<()>,
    ) -> Result<()> {
        let find = |keys: &[&[u8]], each: &mut EachFound<'_>| {
            let mut are_in = vec![false; keys.len()];
            find(keys, &mut are_in)?;
            let all = are_in.into_iter().enumerate().filter(|&(_, is_in)| is_in);
            all.for_each(|(i, _)| each(i, None));
            Ok(())
        };
        let unequal = found.iter().filter(|&&found| !found).count();
        if unequal < found.len() && !is_any_equal() {
            PROVED.is_any_equal.store(true, Ordering::Relaxed);
        }
        self.prove(unequal, |i| !found[i], forms, &find)
    }

    /// Some of these keys without their looks, and with others, given how many are of
    /// interest.
    pub(crate) fn candidates(
        &self,
        count: usize,
        with_looks: bool,
        is_of_interest: impl Fn(usize) -> bool,
    ) -> Vec<Candidate> {
        let before = PROVED.unequal.fetch_add(count, Ordering::Relaxed);
        let looked = PROVED.looked.load(Ordering::Relaxed);
        let digests = self.keys_of.are_digests().then(|| self.keys_of.undigested());
        let (mut candidates, mut parted) = (Vec::new(), Parted::default());
        let sparse = if looked < DENSE { 1 } else { 4 };
        let step = (before / DENSE).next_power_of_two() * sparse;
        for (n, i) in (0..self.len()).step_by(step).enumerate() {
            let n = before / step + n;
            let mut key = Vec::new();
            let key = match &digests {
                Some(keys) if keys.key_of(self.records[i], &mut key).is_err() => continue,
                Some(_) => &key,
                None => self.keys[i],
            };
            let is_plain = is_plain(key);
            let with_looks =
                with_looks && (before + i < DENSE_WITH || n.is_multiple_of(DENSE_WITH));
            if is_plain && !with_looks {
                parted.count(0, false);
            }
            if key.is_empty() || is_plain && !with_looks || !is_of_interest(i) {
                continue;
            }
            let looked = looked + candidates.len();
            let with_fields = looked < DENSE_FIELDS || looked.is_multiple_of(SPARSE_FIELDS);
            let without = self.keys_of.forms_of(key, with_fields, &mut parted);
            let with = with_looks.then(|| Keys::forms_with(key)).into_iter().flatten();
            let without = without.into_iter().map(|form| (form, false));
            let mut forms: Vec<_> = without.chain(with.map(|form| (form, true))).collect();
            for (form, _) in &mut forms {
                self.keys_of.digest(&mut form.text);
                PROVED.tries[form.look].fetch_add(1, Ordering::Relaxed);
            }
            candidates.push(Candidate { record: i, at: before + i, forms });
        }
        PROVED.looked.fetch_add(candidates.len(), Ordering::Relaxed);
        if let Some(tally) = self.tally() {
            keep_parted(tally.name(self.file()), &parted);
        }
        candidates
    }
}

/// The key of a record without its looks, or with them.
pub(crate) struct Candidate {
    pub(crate) record: usize,
    /// Its number among all.
    at: usize,
    forms: Vec<(Form, bool)>,
}

impl Candidate {
    /// The same, with another number of its record.
    pub(crate) fn at(self, record: usize) -> Self {
        Self { record, ..self }
    }

    /// The numbers of forms that are in.
    pub(crate) fn find(&self, is_in: impl Fn(&[u8]) -> bool) -> Vec<usize> {
        let forms = self.forms.iter().enumerate();
        forms.filter(|(_, (form, _))| is_in(&form.text)).map(|(i, _)| i).collect()
    }

    /// Notes that a record of this file is not equal to any of another one, and would be.
    pub(crate) fn note(&self, i: usize, name: &str, other: Option<&str>) {
        let (form, is_with) = &self.forms[i];
        let (with, without) = if *is_with { (other, Some(name)) } else { (Some(name), other) };
        note(form.look, [with, without], &form.text, (form.field, self.at));
    }
}
