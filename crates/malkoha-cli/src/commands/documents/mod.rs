//! Documents: JSON objects in lines, or rows of Parquet, with a text in a field. Their files are
//! read and written shard by shard. Commands decide what stays of each.

mod against;
mod json;
mod records;
mod settle;
mod shards;
mod source;
#[cfg(feature = "parquet")]
mod table;
#[cfg(not(feature = "parquet"))]
#[path = "no_table.rs"]
mod table;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::Args;
use malkoha_text::Memory;

pub(crate) use against::each_text;
pub(crate) use records::{Content, Fate, Hashes, Note, OnBad, Record, Records};
pub(crate) use shards::{JOURNAL, Shard};
pub(crate) use write::{Files, Report};

use self::json::Field;
use self::records::Rows;
use self::source::{Piece, Reader};
use crate::arguments::ThreadArgs;
use crate::input::{is_same, name};
use crate::pipeline::{Sink, in_two_turns};
use crate::progress::Progress;

/// Bytes of documents' hashes that wait until decisions on earlier files are made.
const MOST_ASIDE: usize = 32 << 20;

/// The arguments of commands that read and write documents.
#[derive(Args, Debug)]
pub(crate) struct DocumentArgs {
    /// Files of documents, or directories of them; '-' or none is standard input
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// The field or column that has the text; /a/b is the field b of the object a
    #[arg(long, value_name = "NAME")]
    pub(crate) field: String,

    /// Write the files below this directory
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,

    /// How to treat a record that has no text
    #[arg(long, value_name = "ACTION", default_value = "stop")]
    pub(crate) bad: OnBad,

    /// Overwrite files in DIR, and the report
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    threads: ThreadArgs,
}

impl DocumentArgs {
    pub(crate) fn shards(&self) -> Result<Arc<[Shard]>> {
        let stdin = [PathBuf::from("-")];
        let inputs = if self.inputs.is_empty() { &stdin[..] } else { &self.inputs };
        Ok(shards::shards(inputs, self.output.as_deref())?.into())
    }

    /// Refuses rows on standard output.
    pub(crate) fn check_stdout(&self, shards: &[Shard]) -> Result<()> {
        match shards.iter().find(|shard| shard.is_table && shard.output.is_none()) {
            Some(shard) => bail!(
                "{} is Parquet, which cannot go to standard output: name a directory with --output",
                name(&shard.input)
            ),
            None => Ok(()),
        }
    }

    /// Refuses to overwrite files, before the work begins.
    pub(crate) fn check_outputs(&self, shards: &[Shard]) -> Result<()> {
        if let Some(directory) = &self.output {
            shards::tell_others(directory, shards);
        }
        let outputs = shards.iter().filter_map(|shard| shard.output.as_deref());
        match outputs.filter(|_| !self.force).find(|path| path.exists()) {
            Some(path) => bail!(
                "{} exists: name another output directory, or overwrite its files with --force",
                name(path)
            ),
            None => Ok(()),
        }
    }

    /// Refuses a file to be written that is an input, or an output of another kind.
    pub(super) fn check_other(&self, path: &Path, shards: &[Shard]) -> Result<()> {
        for Shard { input, output, .. } in shards {
            let is_output = output.as_ref().is_some_and(|it| it == path || is_same(it, path));
            ensure!(
                !is_output && !is_same(input, path),
                "{} is also a file of documents: name another file",
                name(path)
            );
        }
        ensure!(
            !shards::is_found(path, &self.inputs)?,
            "{} lies in a directory of documents, whose next run would read it: name another file",
            name(path)
        );
        Ok(())
    }

    /// Reads the files from number `first` on, lets threads `prepare` their texts, and `sink`
    /// decide in order. Writes what stays to `files`.
    pub(crate) fn run<P: Hashes, S: Sink<Made = Records<P>>>(
        &self,
        shards: &Arc<[Shard]>,
        first: usize,
        prepare: impl Fn(&str, &mut Memory, &mut P) + Send + Sync + 'static,
        sink: S,
        mut files: Files,
    ) -> Result<S> {
        let total = shards[first..].iter().map(Shard::size).sum();
        let bar = Arc::new(Progress::unless_terminal("Reading", total));
        let (field, on_bad) = (Arc::new(Field::parse(&self.field)), self.bad);
        let readers = Reader::all(Arc::clone(shards), bar, field, first);
        let of_shard = |(number, shard): (usize, &Shard)| {
            (name(&shard.input), files.is_written(number).then_some(shard.encoding))
        };
        let of_shards: Vec<_> = shards.iter().enumerate().map(of_shard).collect();
        let work = move |piece: &Piece, records: &mut Records<P>| {
            let (name, encoding) = &of_shards[piece.shard];
            records.encoding = *encoding;
            records.read(piece, name, &prepare, on_bad)
        };
        let threads = self.threads.threads();
        files.threads = threads;
        let aside = if files.writes { 0 } else { MOST_ASIDE };
        let sink = Gather { sink, rows: Rows::default() };
        let (gather, mut files) = in_two_turns(readers, (threads, aside), work, sink, files)?;
        files.finish()?;
        Ok(gather.sink)
    }
}

/// Decides by `sink`, and gathers the decisions on the rows of a group.
struct Gather<S> {
    sink: S,
    rows: Rows,
}

impl<P: Hashes, S: Sink<Made = Records<P>>> Sink for Gather<S> {
    type Made = Records<P>;

    fn take(&mut self, records: &mut Self::Made) -> Result<()> {
        self.sink.take(records)?;
        records.gather(&mut self.rows);
        Ok(())
    }

    fn set_aside(records: &mut Self::Made) -> (Self::Made, usize) {
        records.set_aside()
    }
}

/// The path as reports show it.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}
