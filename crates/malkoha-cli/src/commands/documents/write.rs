//! The second turn: writes what is left of the files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::records::Records;
use super::shards::Shard;
use super::source::Piece;
use crate::failure::CANNOT_WRITE;
use crate::input::name;
use crate::output::{Draft, Encoder};
use crate::pipeline::Writer;

/// Writes files and the report on them.
pub(crate) struct Files<E> {
    shards: Arc<[Shard]>,
    /// Files before this one are there already.
    first_new: usize,
    /// Whether anything is written.
    writes: bool,
    overwrite: bool,
    open: Option<Open>,
    pub(crate) report: Option<Report>,
    on_end: OnEnd<E>,
}

/// Called after the end of a file, with its note and the bytes of the report.
type OnEnd<E> = Box<dyn FnMut(E, u64) -> Result<()> + Send>;

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

impl<E> Files<E> {
    pub(crate) fn new(
        shards: Arc<[Shard]>,
        (first_new, writes, overwrite): (usize, bool, bool),
        report: Option<Report>,
        on_end: OnEnd<E>,
    ) -> Self {
        Self { shards, first_new, writes, overwrite, open: None, report, on_end }
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

impl<P: Default, E: Send + 'static> Writer<Piece, Records<P, E>> for Files<E> {
    fn finish(piece: &Piece, records: &mut Records<P, E>) -> Result<()> {
        records.finish(piece)
    }

    fn write(&mut self, _piece: &Piece, records: &mut Records<P, E>) -> Result<()> {
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
        let Some(note) = records.note.take() else { return Ok(()) };
        let report = self.report.as_mut().map_or(Ok(0), Report::settle)?;
        (self.on_end)(note, report)
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
pub(crate) struct Report {
    out: BufWriter<To>,
    bytes: u64,
    failed: String,
}

impl Report {
    /// Begins a report, or goes on after some bytes of one.
    pub(crate) fn open(path: &Path, after: Option<u64>, force: bool) -> Result<Self> {
        let failed = cannot_write(path);
        let exists = path.metadata().is_ok_and(|it| it.len() > 0);
        ensure!(after.is_some() || force || !exists, "{failed}: it exists (--force overwrites it)");
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .with_context(|| failed.clone())?;
        let length = file.metadata().with_context(|| failed.clone())?.len();
        ensure!(
            length >= after.unwrap_or(0),
            "{} is shorter than the run left it: put it back, or remove the journal in the output",
            name(path)
        );
        let cut = |file: &mut File| {
            file.set_len(after.unwrap_or(0))?;
            file.seek(io::SeekFrom::End(0))
        };
        let bytes = cut(&mut file).with_context(|| failed.clone())?;
        Ok(Self { out: BufWriter::new(To::File(file)), bytes, failed })
    }

    fn add(&mut self, lines: &[u8]) -> Result<()> {
        self.bytes += lines.len() as u64;
        self.out.write_all(lines).with_context(|| self.failed.clone())
    }

    /// Lines for people.
    pub(crate) fn stdout() -> Self {
        Self { out: BufWriter::new(To::Stdout), bytes: 0, failed: CANNOT_WRITE.into() }
    }

    /// Lets all lines survive a crash. Returns the bytes of the report.
    pub(crate) fn settle(&mut self) -> Result<u64> {
        let settled = self.out.flush().and_then(|()| match self.out.get_ref() {
            To::File(file) => file.sync_data(),
            To::Stdout => Ok(()),
        });
        settled.with_context(|| self.failed.clone())?;
        Ok(self.bytes)
    }
}

/// Where a report goes.
enum To {
    File(File),
    Stdout,
}

impl Write for To {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout => io::stdout().lock().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout => io::stdout().lock().flush(),
        }
    }
}
