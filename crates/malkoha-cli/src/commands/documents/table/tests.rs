//! Files of pyarrow, DuckDB and Polars (`tests/parquet/make.py`), read back by another part of the
//! library.

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::*;
use crate::commands::documents::records::{Fate, Rows};

const FILES: [&str; 4] = ["pyarrow", "pyarrow-2", "duckdb", "polars"];

fn fixture(name: &str) -> PathBuf {
    format!("{}/tests/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR")).into()
}

/// All rows as text.
fn rows(path: &Path) -> Vec<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

fn texts(path: &Path, field: &str) -> Result<Vec<Result<String, Bad>>> {
    let (table, mut texts) = (Table::open(path, &Field::parse(field), None)?, Vec::new());
    for batch in table.batches() {
        batch.each_text(false, |_, text| {
            texts.push(text.map(str::to_owned));
            Ok(())
        })?;
    }
    Ok(texts)
}

#[test]
fn lists_have_each_of_their_texts() {
    for name in ["pyarrow", "duckdb", "polars"] {
        let path = fixture(name);
        let table = Table::open(&path, &Field::parse("tags"), None).unwrap();
        let (mut lists, mut before) = (vec![Vec::new(); 90], 0);
        for batch in table.batches() {
            let add = |row: usize, text: Result<&str, Bad>| {
                lists[before + row].extend(text.map(str::to_owned));
                Ok(())
            };
            batch.each_text(true, add).unwrap();
            before += batch.rows.len();
        }
        for (row, list) in lists.iter().enumerate() {
            let made = if row % 7 == 0 { &[][..] } else { &[Some("a"), None, Some("b")][..] };
            let made = made.iter().take(row % 4).flatten();
            assert!(made.eq(list), "{name}, row {row}: {list:?}");
        }
        // They are no documents.
        assert!(texts(&path, "tags").unwrap().iter().all(|text| *text == Err(Bad::NoText)));
    }
    let map = texts(&fixture("pyarrow"), "map").unwrap();
    assert!(map.iter().all(|text| *text == Err(Bad::NoText)));
}

/// Writes what stays of a file, by row.
fn rest(from: &Path, to: &Path, fate: impl Fn(usize) -> Fate) -> Result<()> {
    let table = Table::open(from, &Field::parse("text"), Some(to))?;
    let mut writer = TableWriter::begin(&table, &File::create(to)?)?;
    let (mut before, mut rows) = (0, Rows::default());
    for batch in table.batches() {
        (before..before + batch.rows.len()).for_each(|at| rows.push(&fate(at)));
        before += batch.rows.len();
        if batch.is_last {
            writer.add(&batch, &batch.rest(&std::mem::take(&mut rows))?)?;
        }
    }
    writer.end()
}

#[test]
fn what_stays_is_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("new/out.parquet");
    std::fs::create_dir(dir.path().join("new")).unwrap();
    let kept: [fn(usize) -> bool; 6] =
        [|_| true, |_| false, |n| n % 2 == 1, |n| n > 40, |n| n * n % 7 == 1, |n| n == 89];
    for name in FILES {
        let path = fixture(name);
        let all = rows(&path);
        assert_eq!(all.len(), 90);
        for (number, keeps) in kept.iter().enumerate() {
            rest(&path, &out, |n| if keeps(n) { Fate::Keep } else { Fate::Drop }).unwrap();
            let expected = all.iter().enumerate().filter(|(n, _)| keeps(*n)).map(|(_, row)| row);
            assert!(expected.eq(&rows(&out)), "{name} {number}");
            let (before, after) = (metadata(&path), metadata(&out));
            let (old, new) = (before.file_metadata(), after.file_metadata());
            assert_eq!(old.schema(), new.schema());
            assert_eq!(old.version(), new.version());
            assert_eq!(old.key_value_metadata(), new.key_value_metadata());
            let mut first = 0;
            let mut groups = after.row_groups().iter();
            for group in before.row_groups() {
                let end = first + usize::try_from(group.num_rows()).unwrap();
                let left = (first..end).filter(|n| keeps(*n)).count();
                first = end;
                let Some(new) = (left > 0).then(|| groups.next().unwrap()) else { continue };
                assert_eq!(usize::try_from(new.num_rows()).unwrap(), left);
                for (old, new) in group.columns().iter().zip(new.columns()) {
                    assert_eq!(old.compression_codec(), new.compression_codec(), "{name}");
                    assert_eq!(old.statistics().is_some(), new.statistics().is_some(), "{name}");
                    let index =
                        |column: &ColumnChunkMetaData| column.offset_index_offset().is_some();
                    assert_eq!(index(old), index(new), "{name}");
                }
            }
            assert!(groups.next().is_none());
        }
    }
}

#[test]
fn texts_are_found_and_cut() {
    let all = texts(&fixture("pyarrow"), "text").unwrap();
    for name in FILES {
        assert_eq!(texts(&fixture(name), "text").unwrap(), all, "{name}");
        let bad = |field| texts(&fixture(name), field).unwrap();
        assert!(bad("id").iter().all(|text| *text == Err(Bad::NoText)));
        assert!(bad("Text").iter().all(|text| *text == Err(Bad::Lacks)));
    }
    assert_eq!(all.iter().position(|text| *text == Err(Bad::Null)), Some(50));
    assert_eq!(texts(&fixture("pyarrow"), "/meta/body").unwrap(), all);
    for field in ["tags", "meta", "/meta/deep"] {
        let texts = texts(&fixture("pyarrow"), field).unwrap();
        assert!(texts.iter().all(|text| *text == Err(Bad::NoText)), "{field}");
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.parquet");
    for name in FILES {
        rest(&fixture(name), &out, |n| match n % 3 {
            0 => Fate::Drop,
            1 => Fate::Keep,
            _ => Fate::Cut(vec![0..2, 5..9]),
        })
        .unwrap();
        let mut left: Vec<_> = all.iter().cloned().enumerate().filter(|(n, _)| n % 3 > 0).collect();
        for (n, text) in &mut left {
            if let (2, Ok(text)) = (*n % 3, text) {
                *text = format!("{}{}", &text[..2], &text[5..9]);
            }
        }
        assert!(
            texts(&out, "text").unwrap().iter().eq(left.iter().map(|(_, text)| text)),
            "{name}"
        );
    }
}

fn metadata(path: &Path) -> ParquetMetaData {
    ParquetMetaDataReader::new().parse_and_finish(&File::open(path).unwrap()).unwrap()
}

/// Damage leads to an error, or to other texts, but to no panic and no abort.
#[test]
fn damaged_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let (path, out) = (dir.path().join("d.parquet"), dir.path().join("out.parquet"));
    let mut errors = 0;
    for file in FILES {
        let whole = std::fs::read(fixture(file)).unwrap();
        for at in (0..whole.len()).step_by(29).chain(whole.len() - 12..whole.len()) {
            for damage in [0xff, 0x80, 1] {
                let mut bytes = whole.clone();
                bytes[at] ^= damage;
                if damage == 1 {
                    bytes.truncate(at);
                }
                std::fs::write(&path, bytes).unwrap();
                let read = texts(&path, "text");
                let written =
                    rest(&path, &out, |n| if n % 2 == 0 { Fate::Keep } else { Fate::Drop });
                for error in [read.err(), written.err()].into_iter().flatten() {
                    errors += 1;
                    let error = error.to_string();
                    assert!(error.contains(&name(&path)), "{file} at {at}: {error}");
                }
                assert!(damage != 1 || errors > 0);
            }
        }
    }
    assert!(errors > 1000, "{errors}");
}
