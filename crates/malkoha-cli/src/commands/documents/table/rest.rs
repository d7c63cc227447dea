//! The rows that stay, in a file of the same schema, metadata, row groups and compression.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::bloom_filter::Sbbf;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;

use super::{AT_ONCE, Batch, Table, damaged, guarded};
use crate::commands::documents::records::Rows;
use crate::input::name;

/// The level of most writers of Parquet. Files do not say theirs.
const ZSTD_LEVEL: i32 = 3;

/// Bytes that are written at once. The library writes a few thousand.
const WRITTEN: usize = 1 << 18;

/// The rest of a row group.
pub(crate) enum Rest {
    Nothing,
    /// All of it, as it is.
    All,
    /// The only group of a file without a name.
    Part(File, Box<ParquetMetaData>),
}

impl Batch {
    /// Takes the rows of its group that stay.
    pub(in super::super) fn rest(&self, rows: &Rows) -> Result<Rest> {
        if rows.none_stay() {
            return Ok(Rest::Nothing);
        }
        if rows.all_stay() {
            return Ok(Rest::All);
        }
        let output = self.table.output.as_deref().context("there is an output")?;
        let failed = || format!("cannot write {}", name(output));
        let directory = output.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
        fs::create_dir_all(directory).with_context(failed)?;
        let spool = tempfile::tempfile_in(directory).with_context(failed)?;
        let metadata = guarded(&self.table.path, || self.write(&spool, rows))?;
        Ok(Rest::Part(spool, metadata.into()))
    }

    fn write(&self, spool: &File, rows: &Rows) -> Result<ParquetMetaData> {
        let Table { path, metadata, column, .. } = &*self.table;
        let group = metadata.row_group(self.group);
        let schema = metadata.file_metadata().schema_descr().root_schema_ptr();
        let mut writer = SerializedFileWriter::new(
            BufWriter::with_capacity(WRITTEN, spool),
            schema,
            properties(group)?.into(),
        )?;
        let mut to = writer.next_row_group()?;
        for at in 0..group.num_columns() {
            let reader = self.read(at)?;
            let mut column_writer = to.next_column()?.with_context(|| damaged(path))?;
            let is_text = column.is_ok_and(|it| it.number == at);
            copy_column(reader, column_writer.untyped(), rows, is_text)
                .with_context(|| format!("column {}", group.column(at).column_path().string()))?;
            column_writer.close()?;
        }
        to.close()?;
        writer.into_inner()?.flush()?;
        let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional);
        Ok(reader.parse_and_finish(spool)?)
    }
}

/// How a row group is written.
fn properties(group: &RowGroupMetaData) -> Result<WriterProperties> {
    let columns = group.columns();
    let is_new = |column: &ColumnChunkMetaData| {
        let mut pages = column.page_encoding_stats().into_iter().flatten();
        pages.any(|pages| pages.page_type == PageType::DATA_PAGE_V2)
    };
    let version = if columns.iter().any(is_new) {
        WriterVersion::PARQUET_2_0
    } else {
        WriterVersion::PARQUET_1_0
    };
    let mut properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_max_row_group_row_count(None)
        .set_offset_index_disabled(columns.iter().all(|it| it.offset_index_offset().is_none()))
        .set_sorting_columns(group.sorting_columns().cloned());
    for column in columns {
        let path = column.column_path().clone();
        let compression = match column.compression() {
            Compression::ZSTD(_) => Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?),
            other => other,
        };
        let statistics = match column.statistics() {
            _ if column.column_index_offset().is_some() => EnabledStatistics::Page,
            Some(_) => EnabledStatistics::Chunk,
            None => EnabledStatistics::None,
        };
        properties = properties
            .set_column_compression(path.clone(), compression)
            .set_column_statistics_enabled(path.clone(), statistics);
        let mut has_dictionary = false;
        for encoding in column.encodings() {
            match encoding {
                Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => has_dictionary = true,
                Encoding::DELTA_BINARY_PACKED
                | Encoding::DELTA_LENGTH_BYTE_ARRAY
                | Encoding::DELTA_BYTE_ARRAY
                | Encoding::BYTE_STREAM_SPLIT => {
                    properties = properties.set_column_encoding(path.clone(), encoding);
                }
                _ => {}
            }
        }
        properties = properties.set_column_dictionary_enabled(path.clone(), has_dictionary);
        if column.bloom_filter_offset().is_some() {
            properties = properties.set_column_bloom_filter_enabled(path, true);
        }
    }
    Ok(properties.build())
}

/// Copies the values of the rows that stay.
fn copy_column(
    reader: ColumnReader,
    writer: &mut ColumnWriter<'_>,
    rows: &Rows,
    is_text: bool,
) -> Result<()> {
    use {ColumnReader as R, ColumnWriter as W};

    match (reader, writer) {
        (R::BoolColumnReader(from), W::BoolColumnWriter(to)) => copy(from, to, rows, |_, _| {}),
        (R::Int32ColumnReader(from), W::Int32ColumnWriter(to)) => copy(from, to, rows, |_, _| {}),
        (R::Int64ColumnReader(from), W::Int64ColumnWriter(to)) => copy(from, to, rows, |_, _| {}),
        (R::Int96ColumnReader(from), W::Int96ColumnWriter(to)) => copy(from, to, rows, |_, _| {}),
        (R::FloatColumnReader(from), W::FloatColumnWriter(to)) => copy(from, to, rows, |_, _| {}),
        (R::DoubleColumnReader(from), W::DoubleColumnWriter(to)) => copy(from, to, rows, |_, _| {}),
        (R::FixedLenByteArrayColumnReader(from), W::FixedLenByteArrayColumnWriter(to)) => {
            copy(from, to, rows, |_, _| {})
        }
        (R::ByteArrayColumnReader(from), W::ByteArrayColumnWriter(to)) => {
            copy(from, to, rows, |text: &mut ByteArray, kept| {
                if is_text {
                    let left: Vec<_> = kept.iter().map(|part| &text.data()[part.clone()]).collect();
                    *text = left.concat().into();
                }
            })
        }
        _ => anyhow::bail!("its type is not that of the schema"),
    }
}

fn copy<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    to: &mut ColumnWriterImpl<'_, T>,
    rows: &Rows,
    cut: impl Fn(&mut T::T, &[Range<usize>]),
) -> Result<()> {
    let column = to.get_descriptor().clone();
    let (full, repeats) = (column.max_def_level(), column.max_rep_level() > 0);
    let (mut levels, mut starts, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = 0;
    loop {
        levels.clear();
        starts.clear();
        values.clear();
        let (read, _, all) =
            from.read_records(AT_ONCE, Some(&mut levels), Some(&mut starts), &mut values)?;
        if read == 0 {
            break;
        }
        // Kept rows move to the front.
        let (mut row, mut value, mut kept_levels, mut kept_values) = (before, 0, 0, 0);
        for at in 0..all {
            row += usize::from(at > 0 && (!repeats || starts[at] == 0));
            let has_value = full == 0 || levels[at] == full;
            let (stays, parts) = rows.row(row).context("it has too many rows")?;
            if stays {
                if full > 0 {
                    levels[kept_levels] = levels[at];
                }
                if repeats {
                    starts[kept_levels] = starts[at];
                }
                kept_levels += 1;
                if has_value {
                    values.swap(kept_values, value);
                    if let Some(parts) = parts {
                        cut(&mut values[kept_values], parts);
                    }
                    kept_values += 1;
                }
            }
            value += usize::from(has_value);
        }
        before += read;
        ensure!(row + 1 == before, "its rows do not begin where they should");
        let levels = (full > 0).then(|| &levels[..kept_levels]);
        let starts = repeats.then(|| &starts[..kept_levels]);
        to.write_batch(&values[..kept_values], levels, starts)?;
    }
    ensure!(before == rows.len(), "it has {before} rows of {}", rows.len());
    Ok(())
}

/// Writes what stays of a file.
pub(crate) struct TableWriter(SerializedFileWriter<BufWriter<File>>);

impl TableWriter {
    pub(in super::super) fn begin(table: &Table, out: &File) -> Result<Self> {
        let file = table.metadata.file_metadata();
        let groups = table.metadata.row_groups();
        let sorting = groups.first().and_then(|group| group.sorting_columns().cloned());
        let version = if file.version() > 1 {
            WriterVersion::PARQUET_2_0
        } else {
            WriterVersion::PARQUET_1_0
        };
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_created_by(format!("malkoha version {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(file.key_value_metadata().cloned())
            .set_sorting_columns(sorting)
            .build();
        let schema = file.schema_descr().root_schema_ptr();
        let out = BufWriter::with_capacity(WRITTEN, out.try_clone()?);
        Ok(Self(SerializedFileWriter::new(out, schema, properties.into())?))
    }

    pub(in super::super) fn add(&mut self, batch: &Batch, rest: &Rest) -> Result<()> {
        match rest {
            Rest::Nothing => Ok(()),
            Rest::All => {
                let Table { path, metadata, .. } = &*batch.table;
                self.append(&File::open(path)?, metadata, batch.group)
            }
            Rest::Part(file, metadata) => self.append(file, metadata, 0),
        }
    }

    /// Copies the bytes of a group.
    fn append(&mut self, from: &File, metadata: &ParquetMetaData, at: usize) -> Result<()> {
        let group = metadata.row_group(at);
        let mut to = self.0.next_row_group()?;
        for (number, column) in group.columns().iter().enumerate() {
            let index = metadata.page_index();
            to.append_column(
                from,
                ColumnCloseResult {
                    bytes_written: u64::try_from(column.compressed_size())?,
                    rows_written: u64::try_from(group.num_rows())?,
                    metadata: column.clone(),
                    bloom_filter: Sbbf::read_from_column_chunk(column, from)?,
                    column_index: index.and_then(|it| it.column_index(at, number)).cloned(),
                    offset_index: index.and_then(|it| it.offset_index(at, number)).cloned(),
                },
            )?;
        }
        to.close()?;
        Ok(())
    }

    pub(in super::super) fn end(self) -> Result<()> {
        Ok(self.0.into_inner()?.flush()?)
    }
}
