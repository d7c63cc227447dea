//! The second turn: writes what is left of the files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use parking_lot::Mutex;

use super::journal::{Journal, Progress};
use super::record::Records;
use super::shards::Shard;
use super::source::Piece;
use crate::failure::CANNOT_WRITE;
use crate::input::name;
use crate::output::{Draft, Encoder};
use crate::pipeline::Writer;

/// Writes files and the report on them.
pub(super) struct Files {
    shards: Arc<[Shard]>,
    /// Files before this one are there already.
    first_new: usize,
    /// Whether anything is written.
    writes: bool,
    overwrite: bool,
    open: Option<Open>,
    pub(super) report: Option<Report>,
    journal: Option<Arc<Mutex<Journal>>>,
}

/// The file that is being written.
struct Open {
    shard: usize,
    out: Out,
    encoder: Encoder,
}

enum Out {
    File(Box<Draft>),
    Stdout,
}

impl Files {
    pub(super) fn new(
        shards: Arc<[Shard]>,
        (first_new, writes, overwrite): (usize, bool, bool),
        report: Option<Report>,
        journal: Option<Arc<Mutex<Journal>>>,
    ) -> Self {
        Self { shards, first_new, writes, overwrite, open: None, report, journal }
    }

    /// The open file of a shard.
    fn open(&mut self, shard: usize) -> Result<&mut Open> {
        if self.open.as_ref().is_none_or(|open| open.shard != shard) {
            let Shard { output, encoding, .. } = &self.shards[shard];
            let out = match output {
                Some(path) => Out::File(Box::new(draft(path).with_context(|| cannot_write(path))?)),
                None => Out::Stdout,
            };
            let encoder = out.with(|out| Encoder::begin(*encoding, out));
            self.open = Some(Open { shard, encoder: encoder.context(CANNOT_WRITE)?, out });
        }
        Ok(self.open.as_mut().expect("opened"))
    }

    fn end(&mut self, shard: usize) -> Result<()> {
        self.open(shard)?;
        let Some(Open { out, encoder, .. }) = self.open.take() else { return Ok(()) };
        let Some(path) = &self.shards[shard].output else {
            return out.with(|out| encoder.end(out)).context(CANNOT_WRITE);
        };
        let complete = || {
            out.with(|out| encoder.end(out))?;
            if let Out::File(draft) = out {
                draft.publish(path, self.overwrite)?;
            }
            Ok(())
        };
        let failed = |error: io::Error| {
            let exists = error.kind() == io::ErrorKind::AlreadyExists;
            let text = cannot_write(path);
            anyhow::Error::new(error).context(if exists {
                format!("{text} (--force overwrites it)")
            } else {
                text
            })
        };
        complete().map_err(failed)
    }
}

impl Writer<Piece, Records> for Files {
    fn finish(piece: &Piece, records: &mut Records) -> Result<()> {
        records.finish(piece)
    }

    fn write(&mut self, _piece: &Piece, records: &mut Records) -> Result<()> {
        let shard = records.shard;
        if shard < self.first_new {
            return Ok(());
        }
        if let Some(report) = &mut self.report {
            report.add(&records.report)?;
        }
        if self.writes {
            let failed =
                self.shards[shard].output.as_deref().map_or(CANNOT_WRITE.into(), cannot_write);
            let open = self.open(shard)?;
            let Open { out, encoder, .. } = open;
            if !records.ends {
                out.with(|out| encoder.add(&mut records.piece, out)).context(failed)?;
            }
            if records.ends {
                self.end(shard)?;
            }
        }
        let Some(mut progress) = records.progress.take() else { return Ok(()) };
        if let Some(report) = &mut self.report {
            progress.report = report.settle()?;
        }
        self.journal.as_ref().map_or(Ok(()), |journal| journal.lock().note(progress))
    }
}

impl Out {
    fn with<T>(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        match self {
            Self::File(draft) => write(&mut draft.file()),
            Self::Stdout => write(&mut io::stdout().lock()),
        }
    }
}

fn draft(path: &Path) -> io::Result<Draft> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Draft::beside(path)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", name(path))
}

/// The report on dropped documents, a JSON object a line.
pub(super) struct Report {
    out: BufWriter<File>,
    bytes: u64,
    failed: String,
}

impl Report {
    /// Begins a report, or goes on after some bytes of one.
    pub(super) fn open(
        path: &Path,
        resumed: bool,
        progress: &Progress,
        force: bool,
    ) -> Result<Self> {
        let failed = cannot_write(path);
        let exists = path.metadata().is_ok_and(|it| it.len() > 0);
        ensure!(resumed || force || !exists, "{failed}: it exists (--force overwrites it)");
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .with_context(|| failed.clone())?;
        let length = file.metadata().with_context(|| failed.clone())?.len();
        ensure!(
            length >= progress.report,
            "{} is shorter than the run left it: put it back, or remove the journal in the output",
            name(path)
        );
        let cut = |file: &mut File| {
            file.set_len(progress.report)?;
            file.seek(io::SeekFrom::End(0))
        };
        let bytes = cut(&mut file).with_context(|| failed.clone())?;
        Ok(Self { out: BufWriter::new(file), bytes, failed })
    }

    fn add(&mut self, lines: &[u8]) -> Result<()> {
        self.bytes += lines.len() as u64;
        self.out.write_all(lines).with_context(|| self.failed.clone())
    }

    /// Lets all lines survive a crash. Returns the bytes of the report.
    pub(super) fn settle(&mut self) -> Result<u64> {
        let settled = self.out.flush().and_then(|()| self.out.get_ref().sync_data());
        settled.with_context(|| self.failed.clone())?;
        Ok(self.bytes)
    }
}
