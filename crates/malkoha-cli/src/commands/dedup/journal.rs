//! How far a run has come, in its output directory, so that a killed one can go on.
//!
//! ```text
//! clean/.malkoha-dedup           the journal: inputs, options, finished files, counts
//! clean/.malkoha-dedup-state-7   the state after seven files, from time to time
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail, ensure};
use malkoha_text::Options;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lock::Lock;
use super::seen::Seen;
use super::totals::Totals;
use crate::commands::documents::{Shard, shown};
use crate::input::name;
use crate::output::{Draft, Overwrite, replace_with};

const NAME: &str = ".malkoha-dedup";

/// The beginning of the names of states.
const STATE: &str = ".malkoha-dedup-state-";

/// The journal of a run.
pub(super) struct Journal {
    directory: PathBuf,
    /// All that decides over the output: a run goes on only with the same.
    run: Value,
    progress: Progress,
    /// Whether it goes on with an earlier run.
    resumed: bool,
    _lock: Lock,
}

/// The progress of a run.
#[derive(Clone, Copy, Default, Deserialize, Serialize)]
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
    /// finished, unless `resume` says to go on with it, or `force` to begin again. Returns `None` if
    /// there is nothing to resume, because all files are there.
    pub(super) fn open(
        directory: &Path,
        shards: &[Shard],
        options: Value,
        (resume, force): (bool, bool),
        before: u64,
    ) -> Result<Option<Self>> {
        let lock = Lock::take(directory.join(format!("{NAME}-lock")), directory)?;
        let run = json!({ "options": options, "inputs": inputs(shards) });
        let path = directory.join(NAME);
        let found = match fs::read(&path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", name(&path)));
            }
        };
        let Some(bytes) = found.filter(|_| resume || !force) else {
            let outputs = || shards.iter().filter_map(|it| it.output.as_deref());
            if resume && outputs().all(Path::exists) {
                return Ok(None);
            }
            if let Some(there) = outputs().find(|it| resume && it.exists()) {
                bail!(
                    "{} has no run that was not finished, but {} exists: begin again with --force, \
                     without --resume",
                    name(directory),
                    name(there)
                );
            }
            let progress = Progress { before, ..Progress::default() };
            let directory = directory.into();
            return Ok(Some(Self { directory, run, progress, resumed: false, _lock: lock }));
        };
        ensure!(
            resume,
            "{} has a run that was not finished: go on with --resume, or begin again with --force",
            name(directory)
        );
        let damaged =
            || format!("{} is damaged: remove it and begin again with --force", name(&path));
        let journal: Value = serde_json::from_slice(&bytes).with_context(damaged)?;
        if journal["run"] != run {
            bail!(
                "cannot go on with the run in {}: {} differ from those of the run \
                 (--force without --resume begins again)",
                name(directory),
                if journal["run"]["options"] == run["options"] {
                    "the input files"
                } else {
                    "the options"
                }
            );
        }
        let progress = Progress::deserialize(&journal).ok().with_context(damaged)?;
        ensure!(
            progress.saved <= progress.finished && progress.finished <= shards.len(),
            damaged()
        );
        let directory = directory.into();
        Ok(Some(Self { directory, run, progress, resumed: true, _lock: lock }))
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// Whether it goes on with an earlier run.
    pub(super) fn is_resumed(&self) -> bool {
        self.resumed
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

    /// Writes the progress to the journal.
    pub(super) fn note(&mut self, progress: Progress) -> Result<()> {
        let mut journal = json!(progress);
        journal["run"] = self.run.clone();
        let path = self.directory.join(NAME);
        replace_with(&path, Overwrite::Anything, &|out| {
            out.write_all(journal.to_string().as_bytes())
        })?;
        if self.progress.saved != progress.saved {
            self.remove_states(progress.saved);
        }
        self.progress = progress;
        Ok(())
    }

    /// Removes all traces of the run, which is over.
    pub(super) fn remove(&self) -> Result<()> {
        self.remove_states(0);
        Draft::sweep(&self.directory);
        let path = self.directory.join(NAME);
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", name(&path)))
    }

    /// Removes states on disk, also of steps that were killed, except that after `kept` files. An
    /// error is ignored: they are only in the way.
    fn remove_states(&self, kept: usize) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let kept = self.state_path(kept);
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| *path != kept) {
            let name = path.file_name().map(|name| name.to_string_lossy());
            if name.is_some_and(|name| name.starts_with(STATE)) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    fn state_path(&self, files: usize) -> PathBuf {
        self.directory.join(format!("{STATE}{files}"))
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
