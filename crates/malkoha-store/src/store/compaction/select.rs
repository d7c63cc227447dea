//! Which files are worth being rewritten.

use std::sync::Arc;

use crate::error::Result;
use crate::log::{HEADER_BYTES, LEAST_DEAD, LogFile};
use crate::store::{Inner, now};

/// The share of dead bytes from which the background thread rewrites a file while writes wait for
/// room.
const PRESSING: f64 = 0.1;
/// If tombstones take more than this part of the live bytes, there are too many: they can only be
/// removed when everything older is gone.
const MANY_TOMBSTONES: u64 = 8;
/// Files with no record except the seal are removed too.
const EMPTY: u64 = HEADER_BYTES as u64 + 16;

/// Files that a write on a full device has tried to rewrite.
#[derive(Default)]
pub(super) struct Tried {
    /// The sequence number at which a pass over all files ends: 0 until it is known.
    pub(super) pass_ends: u64,
    /// Files without room for their copy, such as that of a batch longer than a file.
    pub(super) too_long: Vec<u64>,
}

impl Tried {
    /// Whether a file cannot be rewritten now.
    pub(super) fn is_hopeless(&self, file: &LogFile) -> bool {
        file.is_unreadable() || self.too_long.contains(&file.id())
    }
}

/// The bytes that rewriting a file frees: tombstones are needed while there are older files.
fn reclaimable(file: &LogFile, is_oldest: bool) -> u64 {
    file.dead() + if is_oldest { file.tombstones() } else { 0 }
}

/// Whether freeing `dead` bytes is worth rewriting a file of this many.
pub(super) fn is_worthwhile(dead: u64, of: u64, share: f64) -> bool {
    dead > 0 && dead as f64 >= of as f64 * share
}

fn sum(files: &[Arc<LogFile>], bytes: impl Fn(&LogFile) -> u64) -> u64 {
    files.iter().map(|file| bytes(file)).sum()
}

impl Inner {
    /// Counts records that have ended by now as dead. Returns the number of the last file, if it is
    /// not full.
    pub(super) fn end_expired(&self) -> Result<Option<u64>> {
        let writer = self.writer()?;
        let now = now();
        self.throttle.replace(sum(self.files.load().all(), |file| file.end_expired(now)), 0);
        Ok(writer.tail.as_ref().map(|tail| tail.id()))
    }

    fn has_many_tombstones(&self, files: &[Arc<LogFile>]) -> bool {
        sum(files, LogFile::tombstones) > self.throttle.live() / MANY_TOMBSTONES
    }

    /// The file that the background thread rewrites next, if one is worth it.
    pub(in crate::store) fn next_file(
        &self,
        done: &[Arc<LogFile>],
    ) -> Result<Option<Arc<LogFile>>> {
        let tail = self.end_expired()?;
        let files = self.files.load();
        let is_done = |file: &Arc<LogFile>| done.iter().any(|it| it.id() == file.id());
        let is_candidate = |file: &&Arc<LogFile>| {
            Some(file.id()) != tail && !is_done(file) && !file.is_unreadable()
        };
        let mut candidates = files.all().iter().filter(is_candidate).peekable();
        let Some(&oldest) = candidates.peek() else { return Ok(None) };
        let share = |file: &Arc<LogFile>| {
            reclaimable(file, file.id() == oldest.id()) as f64 / file.end() as f64
        };
        let best = candidates.max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(oldest);
        let is_pressing = self.pressure(self.given(done)) > 0.0;
        let file = if share(best) >= self.options.compact_share {
            Some(best)
        } else if is_pressing && self.has_many_tombstones(files.all()) {
            Some(oldest)
        } else {
            Some(best).filter(|best| is_pressing && share(best) >= PRESSING)
        };
        Ok(file.map(Arc::clone))
    }

    /// All files of which this share is dead, the oldest first.
    pub(super) fn files_worth(&self, share: f64) -> Result<Vec<Arc<LogFile>>> {
        let tail = self.end_expired()?;
        let files = self.files.load();
        let mut found = Vec::new();
        for file in files.all().iter().filter(|file| Some(file.id()) != tail) {
            let is_oldest = files.all()[found.len()].id() == file.id();
            let gives = is_worthwhile(reclaimable(file, is_oldest), file.end(), share);
            if (gives || file.end() <= EMPTY) && !file.is_unreadable() {
                found.push(Arc::clone(file));
            }
        }
        Ok(found)
    }

    /// The file to rewrite on a full device for a write that is worth rewriting files of this share
    /// of dead bytes.
    ///
    /// Usually it is the file that gives back most. Where deletes are spread over all files, and a
    /// tombstone is about as long as the record that it removes, that alone exchanges one for the
    /// other, because a tombstone is needed until all older files are rewritten. So a pass over all
    /// files, from the oldest on, begins once tombstones take much of the log, or no file gives
    /// back enough. It ends as soon as the write has room, and the next write continues it. A whole
    /// pass gives back all dead bytes and all tombstones.
    pub(super) fn file_for_room(&self, share: f64, tried: &Tried) -> Option<Arc<LogFile>> {
        let files = self.files.load();
        let oldest = files.all().first()?;
        let gives = |file: &LogFile| file.gives(file.id() == oldest.id());
        let others = files.all().iter().filter(|file| !tried.is_hopeless(file));
        let best = others.max_by_key(|file| gives(file))?;
        // The copy takes the rest of a page in addition.
        let is_enough = gives(best) >= LEAST_DEAD.min(best.end() / 4)
            && is_worthwhile(gives(best), best.end(), share);
        let is_mostly_dead = gives(best) >= best.end() / 2;
        let pass = || {
            let goes_on =
                !tried.is_hopeless(oldest) && oldest.header.first_sequence < tried.pass_ends;
            let dead = sum(files.all(), |file| reclaimable(file, true));
            (goes_on && is_worthwhile(dead, files.bytes(), share)).then_some(oldest)
        };
        let is_best = is_mostly_dead || !self.has_many_tombstones(files.all());
        let file = if is_enough && is_best { Some(best) } else { pass() };
        file.or(is_enough.then_some(best)).map(Arc::clone)
    }
}
