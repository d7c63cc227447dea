//! An exact index of a file, at 7 bytes per record: the map returns offsets where the record of a
//! key may lie, and the record there confirms it.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};

use malkoha::CuckooMap;

const RECORDS: u64 = 10_000;

/// The record of a key, if there is one.
fn find(file: &File, index: &CuckooMap, key: &str) -> io::Result<Option<String>> {
    for offset in index.get(key) {
        let (mut reader, mut record) = (BufReader::new(file), String::new());
        reader.seek(SeekFrom::Start(offset))?;
        reader.read_line(&mut record)?;
        if record.split('\t').next() == Some(key) {
            return Ok(Some(record));
        }
    }
    Ok(None)
}

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut file = tempfile::tempfile()?;
    let mut index = CuckooMap::with_capacity(RECORDS, 0.001, 40)?;
    for number in 0..RECORDS {
        index.insert(format!("user{number}"), file.stream_position()?)?;
        writeln!(file, "user{number}\t{}", number * number)?;
    }
    let found = find(&file, &index, "user77")?;
    println!("{found:?} by an index of {:.1} bits per record", index.bits_per_key());
    assert_eq!(found.as_deref(), Some("user77\t5929\n"));
    for number in RECORDS..2 * RECORDS {
        assert_eq!(find(&file, &index, &format!("user{number}"))?, None);
    }
    Ok(())
}
