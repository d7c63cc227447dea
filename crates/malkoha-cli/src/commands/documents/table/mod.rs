//! Parquet files: tables, of which a column has the texts. Row groups are read in batches, and
//! written page by page.

mod guarded;
mod rest;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, get_column_reader, get_typed_column_reader};
use parquet::data_type::ByteArrayType;
use parquet::file::metadata::{
    PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::serialized_reader::SerializedPageReader;

use self::guarded::{Checked, damaged, guarded};
pub(super) use self::rest::{Rest, TableWriter};
use super::json::{Bad, Field};
use crate::input::name;

/// Rows whose hashes are in memory at once, 150 to 300 bytes each; few in tests, which have small
/// files.
const BATCH: usize = if cfg!(debug_assertions) { 7 } else { 1 << 16 };

/// Rows that are read at once.
const AT_ONCE: usize = 64;

/// The most rows of a group, each of which takes a byte of memory until the group is written.
const MOST_ROWS: i64 = 1 << 28;

/// A file.
pub(crate) struct Table {
    path: PathBuf,
    metadata: ParquetMetaData,
    /// The column of the texts.
    column: Result<Column, Bad>,
    /// The file that the rest goes to.
    output: Option<PathBuf>,
}

impl Table {
    pub(super) fn open(path: &Path, field: &Field, output: Option<&Path>) -> Result<Arc<Self>> {
        let metadata = guarded(path, || {
            let file = File::open(path)?;
            let mut reader =
                ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
            reader.try_parse(&file)?;
            let metadata = reader.finish()?;
            // The library allocates as many bytes for a page as its column may have.
            for column in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
                let (start, bytes) = column.byte_range();
                let end = start.saturating_add(bytes);
                ensure!(end <= file.metadata()?.len(), "a column ends after the file");
            }
            Ok(metadata)
        })?;
        for (number, group) in metadata.row_groups().iter().enumerate() {
            let rows = group.num_rows();
            ensure!(
                (0..=MOST_ROWS).contains(&rows),
                "row group {number} of {} has {rows} rows, and at most {MOST_ROWS} can be read: \
                 write it with smaller row groups",
                name(path)
            );
        }
        let column = column(&metadata, field.path());
        Ok(Arc::new(Self { path: path.into(), metadata, column, output: output.map(Into::into) }))
    }

    /// All rows, in their order.
    pub(super) fn batches(self: &Arc<Self>) -> Batches {
        let table = Arc::clone(self);
        Box::new((0..table.metadata.num_row_groups()).flat_map(move |group| {
            let table = Arc::clone(&table);
            let metadata = table.metadata.row_group(group);
            let [all, size] = [metadata.num_rows(), metadata.compressed_size()]
                .map(|number| usize::try_from(number).unwrap_or(0));
            (0..all).step_by(BATCH).map(move |first| {
                let rows = first..all.min(first + BATCH);
                let is_last = rows.end == all;
                let bytes = if is_last { size } else { 0 };
                Batch { table: Arc::clone(&table), group, rows, is_last, bytes }
            })
        }))
    }

    /// The names of the columns.
    pub(super) fn fields(&self) -> Vec<String> {
        let root = self.metadata.file_metadata().schema();
        root.get_fields().iter().map(|field| field.name().to_owned()).collect()
    }
}

/// A column of texts.
#[derive(Clone, Copy)]
struct Column {
    number: usize,
    /// Whether each row has a list of them.
    is_list: bool,
}

/// The column of a field.
fn column(metadata: &ParquetMetaData, path: &[String]) -> Result<Column, Bad> {
    let columns = metadata.file_metadata().schema_descr().columns().iter().enumerate();
    let mut found = columns.filter(|(_, column)| column.path().parts().starts_with(path));
    let (number, column) = found.next().ok_or(Bad::Lacks)?;
    let levels = column.path().parts().len() - path.len();
    let is_one = levels == 0 && column.max_rep_level() == 0;
    // Two levels as in `choices.list.element`, one in old files. A map has two columns.
    let is_list = levels < 3 && column.max_rep_level() == 1 && found.next().is_none();
    let is_text = match column.logical_type_ref() {
        None => matches!(
            column.converted_type(),
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
        ),
        Some(kind) => matches!(kind, LogicalType::String | LogicalType::Enum | LogicalType::Json),
    };
    let is_text = is_text && column.physical_type() == Type::BYTE_ARRAY;
    if is_text && (is_one || is_list) { Ok(Column { number, is_list }) } else { Err(Bad::NoText) }
}

/// The batches of a file.
pub(super) type Batches = Box<dyn Iterator<Item = Batch> + Send>;

/// Some rows of a group.
pub(crate) struct Batch {
    pub(super) table: Arc<Table>,
    group: usize,
    pub(super) rows: Range<usize>,
    /// Whether the group ends with them.
    pub(super) is_last: bool,
    /// The size in the file of the group that ends.
    pub(super) bytes: usize,
}

impl Batch {
    /// The same rows, where another column has the texts.
    pub(super) fn of(&self, table: &Arc<Table>) -> Self {
        Self { table: Arc::clone(table), rows: self.rows.clone(), ..*self }
    }

    /// Calls `each` with the number of each row, from 0, and its text. A list is no text, or each
    /// text of it is one if `lists` says so.
    pub(super) fn each_text(
        &self,
        lists: bool,
        mut each: impl FnMut(usize, Result<&str, Bad>) -> Result<()>,
    ) -> Result<()> {
        match self.table.column {
            Ok(column) if lists || !column.is_list => self.each_value(column, each),
            column => {
                let bad = column.err().unwrap_or(Bad::NoText);
                (0..self.rows.len()).try_for_each(|row| each(row, Err(bad)))
            }
        }
    }

    fn each_value(
        &self,
        Column { number, is_list }: Column,
        mut each: impl FnMut(usize, Result<&str, Bad>) -> Result<()>,
    ) -> Result<()> {
        let Table { path, metadata, .. } = &*self.table;
        let reader = guarded(path, || self.read(number))?;
        let mut reader = get_typed_column_reader::<ByteArrayType>(reader);
        let full = metadata.file_metadata().schema_descr().column(number).max_def_level();
        let (mut levels, mut repeats, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (mut left, mut rows) = (self.rows.len(), 0);
        guarded(path, || Ok(reader.skip_records(self.rows.start)?))?;
        // After the last row of a group there is none.
        while left > 0 || self.is_last {
            levels.clear();
            repeats.clear();
            values.clear();
            let (read, ..) = guarded(path, || {
                let most = left.clamp(1, AT_ONCE);
                let repeats = is_list.then_some(&mut repeats);
                Ok(reader.read_records(most, Some(&mut levels), repeats, &mut values)?)
            })?;
            ensure!((read == 0) == (left == 0), damaged(path));
            if read == 0 {
                break;
            }
            left -= read;
            let mut values = values.iter();
            for at in 0..if is_list { repeats.len() } else { read } {
                // A level above 0 goes on with the list of the row.
                rows += usize::from(repeats.get(at).is_none_or(|level| *level == 0));
                let row = rows.checked_sub(1).filter(|row| *row < self.rows.len());
                let row = row.with_context(|| damaged(path))?;
                if levels.get(at).is_some_and(|level| *level < full) {
                    each(row, Err(Bad::Null))?;
                    continue;
                }
                let text = values.next().map(|value| str::from_utf8(value.data()));
                each(row, text.with_context(|| damaged(path))?.map_err(|_| Bad::NoText))?;
            }
        }
        Ok(())
    }

    fn read(&self, column: usize) -> Result<ColumnReader> {
        let Table { path, metadata, .. } = &*self.table;
        let group = metadata.row_group(self.group);
        let (chunk, rows) = (group.column(column), usize::try_from(group.num_rows())?);
        let file = Arc::new(File::open(path)?);
        let pages = SerializedPageReader::new(file, chunk, rows, None)?;
        let least = match chunk.column_type() {
            Type::BOOLEAN | Type::FIXED_LEN_BYTE_ARRAY => 0,
            Type::INT64 | Type::DOUBLE => 8,
            _ => 4,
        };
        Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(Checked { pages, least })))
    }
}
