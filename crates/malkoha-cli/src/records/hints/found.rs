//! The proofs: keys with a property that would be equal without it, by their files.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::fields::{At, Equal, Parted, equal};
use super::looks::{LOOKS, Look, looks};

/// Fewer prove nothing, where there are more.
const LEAST: usize = 2;

/// Keys of a look that are counted.
const MOST_COUNTED: usize = 1000;

/// Files of which it is known what they have between fields.
const MOST_FILES: usize = 64;

/// The proofs of a run.
pub(super) struct Proved {
    /// Keys that are not equal to any of the other side.
    pub(super) unequal: AtomicUsize,
    /// Those that were looked at.
    pub(super) looked: AtomicUsize,
    found: Mutex<Vec<Found>>,
    /// Of each look, forms that were looked up.
    pub(super) tries: [AtomicUsize; LOOKS],
    /// The separators that files have between fields.
    parted: Mutex<BTreeMap<String, Parted>>,
    /// A key is equal to one of the other side.
    pub(super) is_any_equal: AtomicBool,
    /// A file has another form than it is read in, which tells more.
    is_misread: AtomicBool,
}

pub(super) static PROVED: Proved = Proved {
    unequal: AtomicUsize::new(0),
    looked: AtomicUsize::new(0),
    found: Mutex::new(Vec::new()),
    tries: [const { AtomicUsize::new(0) }; LOOKS],
    parted: Mutex::new(BTreeMap::new()),
    is_any_equal: AtomicBool::new(false),
    is_misread: AtomicBool::new(false),
};

/// Nothing is proved by a file that is misread.
pub(super) fn is_misread() {
    PROVED.is_misread.store(true, Ordering::Relaxed);
}

/// Whether a key was equal to one of the other side.
pub(super) fn is_any_equal() -> bool {
    PROVED.is_any_equal.load(Ordering::Relaxed)
}

/// Keeps what a file has between fields.
pub(super) fn keep_parted(name: &str, parted: &Parted) {
    let mut all = PROVED.parted.lock();
    if let Some(known) = all.get_mut(name) {
        known.add(parted);
    } else if all.len() < MOST_FILES {
        all.insert(name.to_owned(), *parted);
    }
}

/// Keys of one look.
pub(super) struct Found {
    number: usize,
    /// The file whose keys have it, and the other one, where they are known.
    pub(super) with: Option<String>,
    pub(super) without: Option<String>,
    /// Their other form.
    pub(super) forms: BTreeMap<Vec<u8>, At>,
}

impl Found {
    pub(super) fn look(&self) -> &'static Look {
        looks().nth(self.number).expect("a look's number")
    }

    /// Which fields they are, if that is it.
    pub(super) fn equal_fields(&self) -> Option<Equal> {
        equal(&self.forms).filter(|_| self.look().is_field())
    }

    /// Whether it is reported, at this rate of mistakes.
    fn is_told(&self, fpr: f64, least: usize, parted: &BTreeMap<String, Parted>) -> bool {
        let tries = PROVED.tries[self.number].load(Ordering::Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "at most some thousands")]
        let is_likely = self.forms.len() as f64 > 10.0 * fpr * tries as f64;
        let (look, count) = (self.look(), self.forms.len());
        let of = |name: &Option<String>| name.as_ref().and_then(|name| parted.get(name));
        // Texts have parts of other texts by chance.
        let are_fields = match (self.equal_fields(), of(&self.without), of(&self.with)) {
            (None, ..) => false,
            (Some(Equal::Field(_, count)), ..) if count < least => false,
            (_, Some(without), _) => without.has_few(look),
            (_, None, with) => with.is_some_and(|with| with.are_most(count, look)),
        };
        is_likely && count >= least && (!look.is_field() || are_fields)
    }
}

/// Notes that a key of a file would be this form, which another file has, without a look.
pub(super) fn note(number: usize, [with, without]: [Option<&str>; 2], form: &[u8], at: At) {
    let mut all = PROVED.found.lock();
    let is_it = |it: &Found| {
        it.number == number && it.with.as_deref() == with && it.without.as_deref() == without
    };
    let known = all.iter().position(is_it).unwrap_or_else(|| {
        let [with, without] = [with, without].map(|name| name.map(str::to_owned));
        all.push(Found { number, with, without, forms: BTreeMap::new() });
        all.len() - 1
    });
    if all[known].forms.len() < MOST_COUNTED {
        all[known].forms.insert(form.to_vec(), at);
    }
}

/// The proved looks: of more keys than are found by mistake, at this rate.
pub(super) fn proved(is_any_equal: bool, fpr: f64) -> Vec<Found> {
    let are_few = !is_any_equal && PROVED.unequal.load(Ordering::Relaxed) <= 2 * LEAST;
    let least = if are_few { 1 } else { LEAST };
    let mut found = std::mem::take(&mut *PROVED.found.lock());
    let is_told = !PROVED.is_misread.load(Ordering::Relaxed);
    let parted = PROVED.parted.lock();
    found.retain(|it| is_told && it.is_told(fpr, least, &parted));
    // Of fields, those that tell most.
    let fields = found.iter().filter(|it| it.look().is_field());
    let most = fields.map(|it| it.forms.len()).max().unwrap_or(0);
    let mut has_most = false;
    found.sort_by_key(|it| it.number);
    found.retain(|it| {
        let is_field = it.look().is_field();
        !is_field || it.forms.len() == most && !std::mem::replace(&mut has_most, true)
    });
    found
}
