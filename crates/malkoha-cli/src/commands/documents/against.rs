//! The texts of files to compare with, such as evaluation sets.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::json::{self, Bad, Field};
use super::records::OnBad;
use super::shards::{LeftOut, is_table};
use super::table::Table;
use crate::failure::tell;
use crate::input::{Block, Inputs, name};
use crate::progress::Progress;
use crate::records::split;

/// A field, and what records have there.
struct Counted {
    field: Field,
    texts: u64,
    /// Values that are neither texts nor null.
    others: u64,
}

impl Counted {
    fn count(&mut self, found: Result<(), Bad>) {
        self.texts += u64::from(found.is_ok());
        self.others += u64::from(found == Err(Bad::NoText));
    }
}

/// Records without a text in any field.
struct Without {
    on_bad: OnBad,
    records: u64,
}

impl Without {
    fn add(&mut self, complaint: impl FnOnce() -> String) -> Result<()> {
        if self.on_bad == OnBad::Stop {
            bail!("{} (--bad keep or drop goes on)", complaint());
        }
        self.records += 1;
        Ok(())
    }
}

/// Calls `each` with the texts of some fields of all records in files and directories; a list of
/// texts has each of them. Each record must have a text in one of the fields, unless `on_bad` says
/// to go on, and each field in some record.
pub(crate) fn each_text(
    paths: &[PathBuf],
    names: &[String],
    on_bad: OnBad,
    mut each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let counted = |name: &String| Counted { field: Field::parse(name), texts: 0, others: 0 };
    let mut fields: Vec<Counted> = names.iter().map(counted).collect();
    let (mut tables, mut files) = (Vec::new(), Vec::new());
    let mut left_out = LeftOut::default();
    for file in paths.iter().flat_map(|path| left_out.files_at(path)) {
        if is_table(&file)? { &mut tables } else { &mut files }.push(file);
    }
    left_out.tell();
    ensure!(
        !tables.is_empty() || !files.is_empty(),
        "there are no files of --against: name files, or directories with .jsonl or .parquet files"
    );
    let mut without = Without { on_bad, records: 0 };
    for table in &tables {
        each_text_of_table(table, &mut fields, &mut without, &mut each)?;
    }
    each_text_of_lines(&files, &mut fields, &mut without, &mut each)?;
    for (name, Counted { texts, others, .. }) in names.iter().zip(&fields) {
        ensure!(
            *texts > 0,
            "no record of --against has a text in the field '{name}'; {others} have another value"
        );
        if *others > 0 {
            tell(&format!(
                "malkoha: records of --against with another value than a text in the field \
                 '{name}': {others}"
            ));
        }
    }
    if without.records > 0 {
        tell(&format!("malkoha: records of --against without a text: {}", without.records));
    }
    Ok(())
}

fn each_text_of_lines(
    files: &[PathBuf],
    fields: &mut [Counted],
    without: &mut Without,
    each: &mut impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let inputs = Inputs::of_files(files.to_vec(), b'\n').all_needed().numbered(true);
    let mut blocks = inputs.blocks(&Progress::hidden());
    let mut block = Block::default();
    while blocks.next(&mut block)? {
        let source = block.source();
        let mut line = source.lines_before;
        split(source.text, b'\n', |records| {
            for record in records {
                line += 1;
                let (mut first, mut has_text) = (None, record.trim_ascii().is_empty());
                for counted in &mut *fields {
                    let found = match counted.field.read_texts(record) {
                        Ok(texts) if texts.is_empty() => Err(Bad::Null),
                        Ok(texts) => texts.iter().try_for_each(|text| each(text)).map(Ok)?,
                        Err(bad) => Err(bad),
                    };
                    counted.count(found);
                    has_text |= found.is_ok();
                    first = first.or(found.err());
                }
                if let (Some(bad), false) = (first, has_text) {
                    let complaint = || fields[0].field.complaint(bad, || json::fields(record));
                    let file = name(&files[block.file]);
                    without.add(|| format!("line {line} of {file} {}", complaint()))?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn each_text_of_table(
    path: &Path,
    fields: &mut [Counted],
    without: &mut Without,
    each: &mut impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let open = |counted: &Counted| Table::open(path, &counted.field, None);
    let tables: Vec<_> = fields.iter().map(open).collect::<Result<_>>()?;
    let mut before = 0;
    for batch in tables.iter().take(1).flat_map(Table::batches) {
        // By row: why the first field has no text, unless it or another one has.
        let mut rows = vec![Err(Bad::Null); batch.rows.len()];
        for (at, (counted, table)) in fields.iter_mut().zip(&tables).enumerate() {
            batch.of(table).each_text(true, |row, text| {
                counted.count(text.map(|_| ()));
                if text.is_ok() || at == 0 && rows[row].is_err() {
                    rows[row] = text.map(|_| ());
                }
                text.map_or(Ok(()), &mut *each)
            })?;
        }
        for (row, found) in (before + 1..).zip(&rows) {
            let Err(bad) = *found else { continue };
            let complaint = || fields[0].field.complaint(bad, || tables[0].fields());
            without.add(|| format!("row {row} of {} {}", name(path), complaint()))?;
        }
        before += rows.len();
    }
    Ok(())
}
