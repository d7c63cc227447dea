//! Drops repeated lines, a block at a time: one call per block returns a mask of new lines, and
//! overlaps the cache misses.

use std::collections::HashSet;
use std::error::Error;

use malkoha::CuckooFilter;

const BLOCK: usize = 4096;

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let log: String = (0..100_000_u64).map(|i| format!("GET /page/{}\n", i * i % 75_011)).collect();
    let lines: Vec<&str> = log.lines().collect();

    let mut seen = CuckooFilter::with_capacity(lines.len() as u64, 1e-6)?;
    let mut kept: Vec<&str> = Vec::new();
    for block in lines.chunks(BLOCK) {
        let new = seen.insert_unique_many(block)?;
        kept.extend(block.iter().zip(new).filter_map(|(line, new)| new.then_some(line)));
    }
    println!("{} of {} lines are new", kept.len(), lines.len());

    let wanted = ["GET /page/4", "GET /page/none"];
    let found = seen.contains_many(&wanted);
    println!("{wanted:?}: {found:?}");

    assert_eq!(found, [true, false]);
    assert_eq!(kept.len(), lines.iter().collect::<HashSet<_>>().len());
    assert!(seen.contains_many(&lines).iter().all(|&found| found));
    Ok(())
}
