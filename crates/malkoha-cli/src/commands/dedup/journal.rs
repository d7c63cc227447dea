//! How far a run has come, in its output directory, so that a killed one can go on, and a finished
//! one is known.
//!
//! ```text
//! clean/.malkoha-dedup           the journal: a line of options and inputs, a line per finished
//!                                file, and "done"
//! clean/.malkoha-dedup-state-7   the state after seven files, from time to time
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use malkoha_text::Options;
use serde_json::{Value, json};

use super::lock::Lock;
use super::progress::Progress;
use super::seen::{Seen, checksum};
use crate::commands::documents::{JOURNAL, Shard};
use crate::input::{is_same, name};
use crate::output::{Draft, Overwrite, replace};

/// The remedy where a run cannot go on.
const AGAIN: &str = "begin again with --force, without --resume";

/// The last line of a run that is over.
const DONE: &str = "done";

/// The journal of a run.
pub(super) struct Journal {
    directory: PathBuf,
    shards: Arc<[Shard]>,
    /// All that decides over the output: a run goes on only with the same.
    run: Value,
    /// The progress after each file that an earlier call finished, and now.
    earlier: Vec<Progress>,
    pub(super) progress: Progress,
    /// Whether it goes on with an earlier run.
    pub(super) resumed: bool,
    /// Whether that run is over.
    pub(super) done: bool,
    file: Option<File>,
    _lock: Lock,
}

impl Journal {
    /// Begins a run, or goes on with one. Refuses an output directory with a run that was not
    /// finished, unless `resume` says to go on with it, or `force` to begin again.
    pub(super) fn open(
        directory: &Path,
        shards: &Arc<[Shard]>,
        options: Value,
        (resume, force): (bool, bool),
        before: u64,
    ) -> Result<Self> {
        let lock = Lock::take(directory.join(format!("{JOURNAL}-lock")), directory)?;
        let inputs: Value = shards.iter().map(Shard::state).collect();
        let inputs = checksum(inputs.to_string().as_bytes());
        let mut journal = Self {
            directory: directory.into(),
            shards: Arc::clone(shards),
            run: json!({ "options": options, "inputs": inputs }),
            earlier: Vec::new(),
            progress: Progress { before, ..Progress::default() },
            resumed: false,
            done: false,
            file: None,
            _lock: lock,
        };
        let found = journal.read();
        // A run that begins again needs no journal that can be read.
        let found = if resume || !force { found? } else { found.ok().flatten() };
        if resume {
            journal.resume(found)?;
        } else if let Some((run, files, done)) = found {
            if force {
                ensure!(
                    !journal.is_in_state(&run, &files),
                    "the file of --seen has the documents of the run in {}, which this one would \
                     drop: put back the one that the run began with, or name another output \
                     directory",
                    name(directory)
                );
                return Ok(journal);
            }
            ensure!(
                done || files.is_empty(),
                "{} has a run that was not finished: go on with --resume, or begin again with \
                 --force",
                name(directory)
            );
        }
        Ok(journal)
    }

    /// Whether the state of --seen has the documents of a run whose files would be overwritten.
    fn is_in_state(&self, run: &Value, files: &[Progress]) -> bool {
        let seen = |run: &Value| run["options"]["seen"].as_str().map(PathBuf::from);
        let same = seen(run).zip(seen(&self.run)).is_some_and(|(a, b)| a == b || is_same(&a, &b));
        let is_later = files.last().is_some_and(|file| self.progress.before > file.before);
        let has_same = run["inputs"] == self.run["inputs"];
        same && is_later && (has_same || self.outputs().any(Path::exists))
    }

    /// The run, the progress after each of its files, and whether it is over.
    fn read(&self) -> Result<Option<(Value, Vec<Progress>, bool)>> {
        let path = self.directory.join(JOURNAL);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read {}", name(&path)))?,
        };
        let text = String::from_utf8_lossy(&bytes);
        // After a power cut, the last line can lack its end, or have other bytes.
        let mut lines: Vec<&str> = text.split('\n').collect();
        lines.pop();
        let done = lines.pop_if(|last| *last == DONE).is_some();
        let (run, lines) = lines.split_first().unwrap_or((&"", &[]));
        let mut files: Vec<Option<Progress>> =
            lines.iter().map(|line| serde_json::from_str(line).ok()).collect();
        files.pop_if(|last| last.is_none() && !done);
        let files: Option<Vec<Progress>> = files.into_iter().collect();
        let run = serde_json::from_str(run).ok();
        let is_right =
            |(at, file): (usize, &Progress)| file.finished == at + 1 && file.saved <= file.finished;
        match run.zip(files) {
            Some((run, files)) if files.iter().enumerate().all(is_right) => {
                Ok(Some((run, files, done)))
            }
            _ => bail!("{} is damaged: {AGAIN}", name(&path)),
        }
    }

    /// Goes on with the run that was found, or begins one where no file is there yet.
    fn resume(&mut self, found: Option<(Value, Vec<Progress>, bool)>) -> Result<()> {
        let Some((mut run, files, done)) = found else { return self.refuse_outputs(None) };
        // A run that stops at bad records has met none.
        if run["options"]["bad"] == "Stop" {
            run["options"]["bad"] = self.run["options"]["bad"].clone();
        }
        if run != self.run {
            let same_options = run["options"] == self.run["options"];
            let differ = if same_options { "the input files" } else { "the options" };
            let is_other = done || files.is_empty();
            return if is_other { self.refuse_outputs(Some(differ)) } else { self.refuse(differ) };
        }
        ensure!(
            files.len() <= self.shards.len() && (!done || files.len() == self.shards.len()),
            "the journal of {} is damaged: {AGAIN}",
            name(&self.directory)
        );
        self.check_files(&files)?;
        (self.resumed, self.done) = (true, done);
        self.progress = files.last().copied().unwrap_or(self.progress);
        self.earlier = files;
        Ok(())
    }

    /// Refuses finished files that somebody has changed or removed.
    fn check_files(&self, files: &[Progress]) -> Result<()> {
        for (path, file) in self.outputs().zip(files) {
            ensure!(
                path.metadata().is_ok_and(|it| it.len() == file.bytes),
                "{} is not as the run left it: put it back, or {AGAIN}",
                name(path)
            );
        }
        Ok(())
    }

    /// Refuses to end a run whose files others have changed or removed meanwhile.
    pub(super) fn check(&self) -> Result<()> {
        let found = self.read()?;
        let files = found.map(|(_, files, _)| files).filter(|it| it.len() == self.shards.len());
        let gone =
            || format!("files in {} were removed during the run: {AGAIN}", name(&self.directory));
        self.check_files(&files.with_context(gone)?)
    }

    fn outputs(&self) -> impl Iterator<Item = &Path> {
        self.shards.iter().filter_map(|shard| shard.output.as_deref())
    }

    /// Refuses to go on where files are of a run that differs so, or of none that is known.
    fn refuse_outputs(&self, differ: Option<&str>) -> Result<()> {
        match (self.outputs().find(|path| path.exists()), differ) {
            (None, _) => Ok(()),
            (Some(_), Some(differ)) => self.refuse(differ),
            (Some(there), None) => bail!(
                "{} has no run to go on with, but {} exists: {AGAIN}",
                name(&self.directory),
                name(there)
            ),
        }
    }

    fn refuse(&self, differ: &str) -> Result<()> {
        bail!(
            "cannot go on with the run in {}: {differ} differ from those of the run; give the \
             same, or {AGAIN}",
            name(&self.directory)
        )
    }

    /// The state on disk.
    pub(super) fn state(&self, options: &Options) -> Result<Option<Seen>> {
        let saved = self.progress.saved;
        if saved == 0 {
            return Ok(None);
        }
        let failed = || format!("cannot go on with the run in {}; {AGAIN}", name(&self.directory));
        Seen::open(&self.state_path(saved), options).map(Some).with_context(failed)
    }

    /// Writes the state after this many files. It is used once the journal says that they are
    /// finished.
    pub(super) fn save(&self, state: &Seen, files: usize) -> Result<()> {
        state.save(&self.state_path(files))
    }

    /// Writes the journal, to which each finished file adds a line.
    pub(super) fn begin(&mut self) -> Result<()> {
        let path = self.directory.join(JOURNAL);
        replace(&path, Overwrite::Anything, &|out| {
            writeln!(out, "{}", self.run)?;
            self.earlier.iter().try_for_each(|progress| writeln!(out, "{}", json!(progress)))
        })?;
        let file = OpenOptions::new().append(true).open(&path);
        self.file = Some(file.with_context(|| format!("cannot write {}", name(&path)))?);
        Ok(())
    }

    /// Adds the progress after a file.
    pub(super) fn note(&mut self, mut progress: Progress) -> Result<()> {
        if let Some(path) = &self.shards[progress.finished - 1].output {
            let metadata =
                path.metadata().with_context(|| format!("cannot read {}", name(path)))?;
            progress.bytes = metadata.len();
        }
        self.add(&json!(progress).to_string())?;
        if self.progress.saved != progress.saved {
            // If it stays, it is only in the way.
            let _ = fs::remove_file(self.state_path(self.progress.saved));
        }
        self.progress = progress;
        Ok(())
    }

    fn add(&mut self, line: &str) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let added = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_data());
        added.with_context(|| format!("cannot write {}", name(&self.directory.join(JOURNAL))))
    }

    /// Leaves of the run only its files and the journal, by which it is known.
    pub(super) fn end(&mut self) -> Result<()> {
        if !self.done {
            if self.file.is_none() {
                self.begin()?;
            }
            self.add(DONE)?;
        }
        Draft::sweep(&self.directory);
        let Ok(entries) = fs::read_dir(&self.directory) else { return Ok(()) };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().map(|name| name.to_string_lossy());
            if name.is_some_and(|name| name.starts_with(&format!("{JOURNAL}-state-"))) {
                // If it stays, it is only in the way.
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }

    fn state_path(&self, files: usize) -> PathBuf {
        self.directory.join(format!("{JOURNAL}-state-{files}"))
    }
}
