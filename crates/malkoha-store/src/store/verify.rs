//! Compares all records with their checksums.

use super::{LostKey, Store};
use crate::error::{Error, Result};
use crate::index;
use crate::log::Kind;

/// The result of a verification.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// Undamaged records; a number.
    pub records: u64,
    /// Undamaged records that are the present ones of their keys; a number.
    pub live: u64,
    /// Keys whose present records are damaged or cannot be read; a number.
    pub lost: u64,
    /// Those of them that can still be read.
    pub lost_keys: Vec<LostKey>,
    /// All damage.
    pub damage: Vec<Error>,
}

impl Store {
    /// Reads every record and the checkpoint, compares them with their checksums, and the index
    /// with the log. Others may use the store meanwhile.
    ///
    /// # Errors
    ///
    /// If the system refuses. Damage is part of the result.
    pub fn verify(&self) -> Result<Verification> {
        let _no_removals = self.inner.maintenance();
        let _keeping = self.inner.keep_files();
        let snapshot = self.snapshot();
        let mut found = Verification::default();
        for (file, end) in snapshot.files() {
            for record in file.records(end) {
                match record {
                    Ok((record, ..)) if record.head.kind == Kind::Mark => {}
                    Ok((record, offset, _)) => {
                        found.records += 1;
                        let live = record.head.kind == Kind::Put
                            && snapshot.is_present(record.key(), file.location(offset));
                        found.live += u64::from(live);
                    }
                    Err(offset) => {
                        found.damage.push(file.no_record(offset));
                        found.lost_keys.extend(self.inner.lost_in(&snapshot, file, offset));
                    }
                }
            }
        }
        if found.damage.is_empty() && found.live != snapshot.places() {
            let (file, what) =
                (index::CHECKPOINT.to_owned(), "the index has other keys than the log");
            found.damage.push(Error::Damaged { file, offset: 0, what });
        }
        found.lost = snapshot.places().saturating_sub(found.live);
        match index::read(&*self.inner.storage) {
            Err(error) if error.is_unreadable() => found.damage.push(error),
            other => drop(other?),
        }
        Ok(found)
    }
}
