//! The second turn: writes the lines that stay.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};

use super::records::{Hashes, Records};
use super::settle::Settler;
use super::shards::Shard;
use super::source::Piece;
use super::table::{Table, TableWriter};
use crate::failure::CANNOT_WRITE;
use crate::input::{is_stdin, name};
use crate::output::{Draft, Encoder, stdout};
use crate::pipeline::Writer;

/// Writes files and the report on them.
pub(crate) struct Files<E> {
    shards: Arc<[Shard]>,
    /// Files before this one are there already.
    first_new: usize,
    /// Whether anything is written.
    pub(super) writes: bool,
    overwrite: bool,
    /// That compress.
    pub(super) threads: usize,
    open: Option<Open>,
    report: Option<Report>,
    on_end: OnEnd<E>,
    settler: Settler,
}

/// Called after the end of a file, with its note and the bytes of the report.
type OnEnd<E> = Arc<dyn Fn(E, u64) -> Result<()> + Send + Sync>;

/// The file that is being written.
struct Open {
    shard: usize,
    out: Out,
    form: Form,
}

/// What the file has.
enum Form {
    Lines(Encoder),
    Table(Box<TableWriter>),
}

enum Out {
    File(Box<Draft>),
    Stdout,
}

impl<E: Send + 'static> Files<E> {
    pub(crate) fn new(
        shards: Arc<[Shard]>,
        (first_new, writes, overwrite): (usize, bool, bool),
        report: Option<Report>,
        on_end: OnEnd<E>,
    ) -> Self {
        let settler = Settler::new();
        let (threads, open) = (1, None);
        Self { shards, first_new, writes, overwrite, threads, open, report, on_end, settler }
    }

    /// The open file of a shard.
    fn open(&mut self, shard: usize, table: Option<&Table>) -> Result<&mut Open> {
        if self.open.as_ref().is_none_or(|open| open.shard != shard) {
            let Shard { output, encoding, .. } = &self.shards[shard];
            let out = match output {
                Some(path) => Out::File(Box::new(draft(path).with_context(|| cannot_write(path))?)),
                None => {
                    stdout::is_open().context(CANNOT_WRITE)?;
                    Out::Stdout
                }
            };
            let form = match (&out, table) {
                (Out::File(draft), Some(table)) => {
                    Form::Table(TableWriter::begin(table, draft.file())?.into())
                }
                _ => {
                    let encoder = out.with(|out| Encoder::begin(*encoding, self.threads, out));
                    Form::Lines(encoder.context(CANNOT_WRITE)?)
                }
            };
            self.open = Some(Open { shard, form, out });
        }
        Ok(self.open.as_mut().expect("opened"))
    }

    /// Ends a file. The returned step gives it its name.
    fn end(
        &mut self,
        shard: usize,
        table: Option<&Table>,
    ) -> Result<Option<impl FnOnce() -> Result<()> + Send + use<E>>> {
        self.open(shard, table)?;
        let Some(Open { out, form, .. }) = self.open.take() else { return Ok(None) };
        let path = self.shards[shard].output.clone();
        let ended = match form {
            Form::Lines(encoder) => out.with(|out| encoder.end(out)).map_err(Into::into),
            Form::Table(writer) => writer.end(),
        };
        ended.with_context(|| path.as_deref().map_or(CANNOT_WRITE.into(), cannot_write))?;
        let Some(path) = path else { return Ok(None) };
        let overwrite = self.overwrite;
        Ok(Some(move || {
            let Out::File(draft) = out else { return Ok(()) };
            draft.publish(&path, overwrite).map_err(|error| {
                let exists = error.kind() == io::ErrorKind::AlreadyExists;
                let remedy = if exists { " (--force overwrites it)" } else { "" };
                anyhow::Error::new(error).context(cannot_write(&path) + remedy)
            })
        }))
    }

    /// Waits until all files have their names, and the report is complete.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.settler.finish()?;
        self.report.as_mut().map_or(Ok(()), |report| report.flush()?.sync())
    }
}

impl<P: Hashes, E: Send + 'static> Writer<Piece, Records<P, E>> for Files<E> {
    fn finish(piece: &Piece, records: &mut Records<P, E>) -> Result<()> {
        records.finish(piece)
    }

    fn write(&mut self, piece: &Piece, records: &mut Records<P, E>) -> Result<()> {
        let (shard, table) = (records.shard, piece.table.as_deref());
        let rest = records.rest_of_group.take();
        if shard < self.first_new {
            return Ok(());
        }
        if let Some(report) = &mut self.report {
            report.add(&records.report)?;
        }
        if self.writes {
            let failed =
                self.shards[shard].output.as_deref().map_or(CANNOT_WRITE.into(), cannot_write);
            let Open { out, form, .. } = self.open(shard, table)?;
            match (form, piece.batch.as_ref().zip(rest)) {
                (Form::Table(writer), Some((batch, rest))) => {
                    writer.add(batch, &rest).context(failed)?;
                }
                (Form::Lines(encoder), _) if !records.ends => {
                    out.with(|out| encoder.add(&mut records.piece, out)).context(failed)?;
                }
                _ => {}
            }
        }
        if !records.ends {
            return Ok(());
        }
        let name_file = if self.writes { self.end(shard, table)? } else { None };
        let report = self.report.as_mut().map(Report::flush).transpose()?;
        let (note, on_end) = (records.note.take(), Arc::clone(&self.on_end));
        self.settler.add(move || {
            name_file.map_or(Ok(()), |name_file| name_file())?;
            report.as_ref().map_or(Ok(()), Flushed::sync)?;
            let bytes = report.map_or(0, |report| report.bytes);
            note.map_or(Ok(()), |note| on_end(note, bytes))
        })
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
    Draft::of(path)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", name(path))
}

/// The report on dropped documents, a JSON object a line.
pub(crate) struct Report {
    out: BufWriter<To>,
    bytes: u64,
    failed: String,
    /// A pipe cannot be.
    is_synced: bool,
}

impl Report {
    /// Begins a report, or goes on after some bytes of one.
    pub(crate) fn open(path: &Path, after: Option<u64>, force: bool) -> Result<Self> {
        let failed = cannot_write(path);
        ensure!(!is_stdin(path), "a report goes to a file: name one");
        let exists = path.metadata().is_ok_and(|it| it.is_file() && it.len() > 0);
        ensure!(after.is_some() || force || !exists, "{failed}: it exists (--force overwrites it)");
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .with_context(|| failed.clone())?;
        let metadata = file.metadata().with_context(|| failed.clone())?;
        let kept = after.unwrap_or(0);
        ensure!(
            metadata.len() >= kept || !metadata.is_file(),
            "{} is shorter than the run left it: put it back, or begin again with --force",
            name(path)
        );
        // A device or pipe takes what comes.
        if metadata.is_file() {
            let cut = file.set_len(kept).and_then(|()| file.seek(io::SeekFrom::End(0)));
            cut.with_context(|| failed.clone())?;
        }
        let (bytes, is_synced) = (kept, metadata.is_file());
        Ok(Self { out: BufWriter::new(To::File(file)), bytes, failed, is_synced })
    }

    fn add(&mut self, lines: &[u8]) -> Result<()> {
        self.bytes += lines.len() as u64;
        self.out.write_all(lines).with_context(|| self.failed.clone())
    }

    /// Lines for people.
    pub(crate) fn stdout() -> Self {
        let (out, failed) = (BufWriter::new(To::Stdout), CANNOT_WRITE.into());
        Self { out, bytes: 0, failed, is_synced: false }
    }

    /// Hands all lines over to the system.
    fn flush(&mut self) -> Result<Flushed> {
        let flushed = self.out.flush().and_then(|()| match self.out.get_ref() {
            To::File(file) if self.is_synced => file.try_clone().map(Some),
            To::File(_) => Ok(None),
            To::Stdout => Ok(None),
        });
        let file = flushed.with_context(|| self.failed.clone())?;
        Ok(Flushed { file, bytes: self.bytes, failed: self.failed.clone() })
    }
}

/// A report up to here.
struct Flushed {
    file: Option<File>,
    bytes: u64,
    failed: String,
}

impl Flushed {
    /// Lets its lines survive a crash.
    fn sync(&self) -> Result<()> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_data);
        synced.with_context(|| self.failed.clone())
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
