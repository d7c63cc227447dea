//! How far a run has come, in its output directory, so that a killed one can go on.
//!
//! ```text
//! clean/.malkoha-dedup           the journal: inputs, options, finished files, counts
//! clean/.malkoha-dedup-state-7   the state after seven files, from time to time
//! ```

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail, ensure};
use malkoha_text::Options;
use serde_json::{Value, json};

use super::seen::Seen;
use super::totals::Totals;
use crate::commands::documents::{Shard, shown};
use crate::input::name;
use crate::output::{Overwrite, replace_with};

const NAME: &str = ".malkoha-dedup";

/// The journal of a run.
pub(super) struct Journal {
    directory: PathBuf,
    /// All that decides over the output: a run goes on only with the same.
    run: Value,
    progress: Progress,
    /// Held as long as this lives.
    _lock: File,
}

/// What was done.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// Files that are finished.
    pub(super) finished: usize,
    /// Finished files that are in the state on disk; 0 if there is none.
    pub(super) saved: usize,
    pub(super) totals: Totals,
    /// Bytes of the report on finished files.
    pub(super) report: u64,
    /// Documents in the state that the run began with.
    pub(super) before: u64,
}

impl Journal {
    /// Begins a run, or goes on with one. Refuses an output directory with a run that was not
    /// finished, unless `resume` says to go on with it.
    pub(super) fn open(
        directory: &Path,
        shards: &[Shard],
        options: Value,
        resume: bool,
        before: u64,
    ) -> Result<Self> {
        let lock = lock(directory)?;
        let run = json!({ "options": options, "inputs": inputs(shards) });
        let path = directory.join(NAME);
        let found = match fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", name(&path)));
            }
        };
        let Some(bytes) = found else {
            let there = shards.iter().filter_map(|it| it.output.as_ref()).find(|it| it.exists());
            if let Some(there) = there.filter(|_| resume) {
                bail!(
                    "{} has no run that was not finished, and {} exists: it is done, or begin again \
                     without --resume",
                    name(directory),
                    name(there)
                );
            }
            let progress = Progress { before, ..Progress::default() };
            return Ok(Self { directory: directory.into(), run, progress, _lock: lock });
        };
        ensure!(
            resume,
            "{} has a run that was not finished: go on with --resume, or remove {}",
            name(directory),
            name(&path)
        );
        let damaged =
            || format!("{} is damaged: remove it and begin again with --force", name(&path));
        let journal: Value = serde_json::from_slice(&bytes).with_context(damaged)?;
        if journal["run"] != run {
            bail!(
                "cannot go on with the run in {}: {} differ from those of the run",
                name(directory),
                if journal["run"]["options"] == run["options"] {
                    "the input files"
                } else {
                    "the options"
                }
            );
        }
        let number = |field: &str| journal[field].as_u64().with_context(damaged);
        let progress = Progress {
            finished: usize::try_from(number("finished")?)?,
            saved: usize::try_from(number("saved")?)?,
            totals: Totals::from_json(&journal["totals"]).with_context(damaged)?,
            report: number("report")?,
            before: number("before")?,
        };
        ensure!(
            progress.saved <= progress.finished && progress.finished <= shards.len(),
            damaged()
        );
        Ok(Self { directory: directory.into(), run, progress, _lock: lock })
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// The state on disk.
    pub(super) fn state(&self, options: &Options) -> Result<Option<Seen>> {
        let saved = self.progress.saved;
        (saved > 0).then(|| Seen::open(&self.state_path(saved), options)).transpose()
    }

    /// Writes the state after this many files. It is used once the journal says that they are
    /// finished.
    pub(super) fn save(&self, state: &Seen, files: usize) -> Result<()> {
        state.save(&self.state_path(files))
    }

    /// Notes what was done.
    pub(super) fn note(&mut self, progress: Progress) -> Result<()> {
        let journal = json!({
            "run": self.run,
            "finished": progress.finished,
            "saved": progress.saved,
            "totals": progress.totals.to_json(),
            "report": progress.report,
            "before": progress.before,
        });
        let path = self.directory.join(NAME);
        replace_with(&path, Overwrite::Anything, &|out| {
            out.write_all(journal.to_string().as_bytes())
        })?;
        if self.progress.saved != progress.saved {
            self.remove_state();
        }
        self.progress = progress;
        Ok(())
    }

    /// Removes all traces of the run, which is over.
    pub(super) fn remove(&self) -> Result<()> {
        self.remove_state();
        for file in [NAME.to_owned(), lock_name()] {
            let path = self.directory.join(file);
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", name(&path)))?;
        }
        Ok(())
    }

    fn remove_state(&self) {
        if self.progress.saved > 0 {
            // It is only in the way.
            let _ = fs::remove_file(self.state_path(self.progress.saved));
        }
    }

    fn state_path(&self, files: usize) -> PathBuf {
        self.directory.join(format!("{NAME}-state-{files}"))
    }
}

fn lock_name() -> String {
    format!("{NAME}-lock")
}

/// Keeps other runs out of a directory.
fn lock(directory: &Path) -> Result<File> {
    let path = directory.join(lock_name());
    let failed = || format!("cannot lock {}", name(&path));
    let file = File::create(&path).with_context(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another run writes to {}", name(directory)),
        Err(TryLockError::Error(error)) => Err(error).with_context(failed),
    }
}

/// Paths, sizes and times of change.
fn inputs(shards: &[Shard]) -> Vec<Value> {
    let describe = |shard: &Shard| {
        let time = shard.input.metadata().and_then(|it| it.modified()).ok();
        let time = time.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let nanoseconds = time.map(|it| it.as_nanos().to_string());
        json!([shown(&shard.input), shard.size(), nanoseconds])
    };
    shards.iter().map(describe).collect()
}
