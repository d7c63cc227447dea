//! The second turn: writes the lines that stay.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};

use super::records::{Hashes, Records};
use super::settle::Settler;
use super::shards::Shard;
use super::source::Piece;
use super::table::{Table, TableWriter};
use crate::failure::CANNOT_WRITE;
use crate::input::{is_dash, name};
use crate::output::{Draft, Encoder, stdout};
use crate::pipeline::Writer;

/// Writes files and the report on them.
pub(crate) struct Files {
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
    settler: Settler,
}

/// The file that is being written.
struct Open {
    shard: usize,
    /// Standard output otherwise.
    draft: Option<Box<Draft>>,
    form: Form,
}

/// The content of the file.
enum Form {
    Lines(Encoder),
    Table(Box<TableWriter>),
}

impl Files {
    pub(crate) fn new(
        shards: Arc<[Shard]>,
        (first_new, writes, overwrite): (usize, bool, bool),
        report: Option<Report>,
    ) -> Self {
        let settler = Settler::new();
        let (threads, open) = (1, None);
        Self { shards, first_new, writes, overwrite, threads, open, report, settler }
    }

    /// Whether the file of a shard is written, and not there already.
    pub(super) fn is_written(&self, shard: usize) -> bool {
        self.writes && shard >= self.first_new
    }

    /// The open file of a shard.
    fn open(&mut self, shard: usize, table: Option<&Table>) -> Result<&mut Open> {
        if self.open.as_ref().is_none_or(|open| open.shard != shard) {
            let Shard { input, output, encoding, .. } = &self.shards[shard];
            let draft = match output {
                Some(path) => {
                    Some(Box::new(draft(path, input).with_context(|| cannot_write(path))?))
                }
                None => {
                    stdout::is_open()?;
                    None
                }
            };
            let form = match (&draft, table) {
                (Some(draft), Some(table)) => {
                    Form::Table(TableWriter::begin(table, draft.file())?.into())
                }
                _ => {
                    let encoder = with(&draft, |out| Encoder::begin(*encoding, self.threads, out));
                    Form::Lines(encoder.context(CANNOT_WRITE)?)
                }
            };
            self.open = Some(Open { shard, draft, form });
        }
        Ok(self.open.as_mut().expect("opened"))
    }

    /// Ends a file. The returned step gives it its name.
    fn end(
        &mut self,
        shard: usize,
        table: Option<&Table>,
    ) -> Result<Option<impl FnOnce() -> Result<()> + Send + use<>>> {
        self.open(shard, table)?;
        let Some(Open { draft, form, .. }) = self.open.take() else { return Ok(None) };
        let path = self.shards[shard].output.clone();
        let ended = match form {
            Form::Lines(encoder) => with(&draft, |out| encoder.end(out)).map_err(Into::into),
            Form::Table(writer) => writer.end(),
        };
        ended.with_context(|| path.as_deref().map_or(CANNOT_WRITE.into(), cannot_write))?;
        let overwrite = self.overwrite;
        Ok(path.zip(draft).map(|(path, draft)| {
            move || {
                draft.publish(&path, overwrite).map_err(|error| {
                    let exists = error.kind() == io::ErrorKind::AlreadyExists;
                    let remedy = if exists { " (--force overwrites it)" } else { "" };
                    anyhow::Error::new(error).context(cannot_write(&path) + remedy)
                })
            }
        }))
    }

    /// Waits until all files have their names, and the report is complete.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.settler.finish()?;
        self.report.as_mut().map_or(Ok(()), |report| report.flush()?.sync())
    }
}

impl<P: Hashes> Writer<Piece, Records<P>> for Files {
    fn finish(piece: &Piece, records: &mut Records<P>) -> Result<()> {
        records.finish(piece)
    }

    fn write(&mut self, piece: &Piece, records: &mut Records<P>) -> Result<()> {
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
            let Open { draft, form, .. } = self.open(shard, table)?;
            match (form, piece.batch.as_ref().zip(rest)) {
                (Form::Table(writer), Some((batch, rest))) => {
                    writer.add(batch, &rest).context(failed)?;
                }
                (Form::Lines(encoder), _) if !records.ends => {
                    with(draft, |out| encoder.add(&mut records.piece, out)).context(failed)?;
                }
                _ => {}
            }
        }
        if !records.ends {
            return Ok(());
        }
        let name_file = if self.writes { self.end(shard, table)? } else { None };
        let report = self.report.as_mut().map(Report::flush).transpose()?;
        let note = records.note.take();
        self.settler.add(move || {
            name_file.map_or(Ok(()), |name_file| name_file())?;
            report.as_ref().map_or(Ok(()), Flushed::sync)?;
            let bytes = report.map_or(0, |report| report.bytes);
            note.map_or(Ok(()), |note| note(bytes))
        })
    }
}

/// Calls `write` with the draft, or with standard output.
fn with<T>(
    draft: &Option<Box<Draft>>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
) -> io::Result<T> {
    match draft {
        Some(draft) => write(&mut draft.file()),
        None => write(&mut io::stdout().lock()),
    }
}

/// A draft of a file, readable only for users who can read its input.
fn draft(path: &Path, input: &Path) -> io::Result<Draft> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let draft = Draft::of(path)?;
    #[cfg(unix)]
    restrict(draft.file(), input);
    #[cfg(not(unix))]
    let _ = input;
    Ok(draft)
}

/// Takes those rights to a file away that nobody has to another one. Some file systems have none.
#[cfg(unix)]
fn restrict(file: &File, other: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let (Ok(usual), Ok(of_other)) = (file.metadata(), other.metadata()) else { return };
    let mode = usual.permissions().mode() & (of_other.permissions().mode() | 0o600);
    if of_other.is_file() {
        let _ = file.set_permissions(fs::Permissions::from_mode(mode));
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", name(path))
}

/// The report on dropped documents, a JSON object a line.
pub(crate) struct Report {
    out: BufWriter<Box<dyn Write + Send>>,
    /// A regular file, which is synced. A pipe cannot be.
    file: Option<Arc<File>>,
    bytes: u64,
    failed: String,
}

impl Report {
    /// Begins a report, or goes on after some bytes of one.
    pub(crate) fn open(path: &Path, after: Option<u64>, force: bool) -> Result<Self> {
        let failed = cannot_write(path);
        ensure!(!is_dash(path), "a report goes to a file: name one");
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(path)
            .with_context(|| failed.clone())?;
        let metadata = file.metadata().with_context(|| failed.clone())?;
        // Lines of two runs would mix. Where files cannot be locked, nobody watches over that.
        if metadata.is_file() && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            bail!("{failed}: another run writes to it");
        }
        let exists = metadata.is_file() && metadata.len() > 0;
        ensure!(after.is_some() || force || !exists, "{failed}: it exists (--force overwrites it)");
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
        let file = Arc::new(file);
        let out = BufWriter::new(Box::new(Arc::clone(&file)) as Box<_>);
        Ok(Self { out, file: metadata.is_file().then_some(file), bytes: kept, failed })
    }

    fn add(&mut self, lines: &[u8]) -> Result<()> {
        self.bytes += lines.len() as u64;
        self.out.write_all(lines).with_context(|| self.failed.clone())
    }

    /// Lines for people.
    pub(crate) fn stdout() -> Self {
        let out = BufWriter::new(Box::new(io::stdout()) as Box<_>);
        Self { out, file: None, bytes: 0, failed: CANNOT_WRITE.into() }
    }

    /// Hands all lines over to the system.
    fn flush(&mut self) -> Result<Flushed> {
        self.out.flush().with_context(|| self.failed.clone())?;
        Ok(Flushed { file: self.file.clone(), bytes: self.bytes, failed: self.failed.clone() })
    }
}

/// A report up to here.
struct Flushed {
    file: Option<Arc<File>>,
    bytes: u64,
    failed: String,
}

impl Flushed {
    /// Lets its lines survive a crash.
    fn sync(&self) -> Result<()> {
        let synced = self.file.as_ref().map_or(Ok(()), |file| file.sync_data());
        synced.with_context(|| self.failed.clone())
    }
}
