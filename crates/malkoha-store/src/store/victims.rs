//! Which files are worth being compacted.

use std::sync::Arc;

use super::{Inner, now};
use crate::error::Result;
use crate::log::{HEADER_BYTES, LogFile};

/// The share of dead bytes from which the thread in the background rewrites a file while writes
/// wait for room.
const PRESSING: f64 = 0.1;

impl Inner {
    /// Counts as dead what has ended by now. Returns the number of the last file, if it is not
    /// full.
    pub(super) fn end_expired(&self) -> Result<Option<u64>> {
        let writer = self.writer()?;
        let now = now();
        let ended = self.files.load().files().iter().map(|file| file.end_expired(now)).sum();
        self.space.replace(ended, 0);
        Ok(writer.tail().map(|tail| tail.id()))
    }

    /// The file that compaction in the background rewrites next, if one is worth it.
    pub(super) fn next_victim(&self, done: &[Arc<LogFile>]) -> Result<Option<Arc<LogFile>>> {
        let tail = self.end_expired()?;
        let table = self.files.load();
        let is_done = |file: &Arc<LogFile>| done.iter().any(|it| it.id() == file.id());
        let mut files = table
            .files()
            .iter()
            .filter(|file| Some(file.id()) != tail && !is_done(file) && !file.is_unreadable())
            .peekable();
        let Some(&oldest) = files.peek() else { return Ok(None) };
        let tombstones: u64 = table.files().iter().map(|file| file.tombstones()).sum();
        // Tombstones are needed while there are older files.
        let reclaimable = |file: &Arc<LogFile>| {
            file.dead() + if file.id() == oldest.id() { file.tombstones() } else { 0 }
        };
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
        let share = |file: &Arc<LogFile>| reclaimable(file) as f64 / file.end() as f64;
        let best = files.max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(oldest);
        let is_pressing = self.pressure(self.given(done)) > 0.0;
        let victim = if share(best) >= self.options.compact_share {
            Some(best)
        } else if is_pressing && tombstones > self.space.live() / 8 {
            // They can only be removed when everything older is gone.
            Some(oldest)
        } else {
            Some(best).filter(|best| is_pressing && share(best) >= PRESSING)
        };
        Ok(victim.map(Arc::clone))
    }

    /// Files to rewrite, the oldest first.
    pub(super) fn victims(&self, share: f64) -> Result<Vec<Arc<LogFile>>> {
        let tail = self.end_expired()?;
        let table = self.files.load();
        let mut victims = Vec::new();
        for file in table.files().iter().filter(|file| Some(file.id()) != tail) {
            // Tombstones are needed while there are older files.
            let oldest = table.files()[victims.len()].id() == file.id();
            let reclaimable = file.dead() + if oldest { file.tombstones() } else { 0 };
            let gives = is_worthwhile(reclaimable, file.end(), share) || file.end() <= EMPTY;
            if gives && !file.is_unreadable() {
                victims.push(Arc::clone(file));
            }
        }
        Ok(victims)
    }
}

/// Files with no record except the seal are removed too.
const EMPTY: u64 = HEADER_BYTES as u64 + 16;

/// Whether giving back `dead` bytes is worth rewriting so many.
pub(super) fn is_worthwhile(dead: u64, of: u64, share: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
    let enough = dead as f64 >= of as f64 * share;
    enough && dead > 0
}
