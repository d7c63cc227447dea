//! An index of a file of records, at 7 bytes for each whatever its key: exact answers.
//!
//! The map returns offsets at which the record may lie. The record there says whether it is the one.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};

use malkoha::CuckooMap;

const RECORDS: u64 = 10_000;

/// The record of a key, and how many records were read to find it.
fn find(file: &File, index: &CuckooMap, key: &str) -> io::Result<(Option<String>, u32)> {
    let mut reads = 0;
    for offset in index.get(key) {
        let mut reader = BufReader::new(file);
        reader.seek(SeekFrom::Start(offset))?;
        let mut record = String::new();
        reader.read_line(&mut record)?;
        reads += 1;
        if record.split('\t').next() == Some(key) {
            return Ok((Some(record), reads));
        }
    }
    Ok((None, reads))
}

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut file = tempfile::tempfile()?;
    let mut index = CuckooMap::with_capacity(RECORDS, 0.001, 40)?;
    for number in 0..RECORDS {
        index.insert(format!("user{number}"), file.stream_position()?)?;
        writeln!(file, "user{number}\t{}", number * number)?;
    }
    println!("{:.1} bits per record; {:?}", index.bits_per_key(), find(&file, &index, "user77")?);
    assert_eq!(find(&file, &index, "user77")?.0.as_deref(), Some("user77\t5929\n"));
    assert!((RECORDS..2 * RECORDS).all(|i| {
        find(&file, &index, &format!("user{i}")).is_ok_and(|(record, _)| record.is_none())
    }));
    Ok(())
}
