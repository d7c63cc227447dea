//! The keyed hash (SipHash-1-3) compared with XXH3-64: by itself, and in lookups.

use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;
use malkoha::{CuckooFilter, KeyHasher};

use crate::args::HashArgs;
use crate::keys::Keys;
use crate::measure::{alternating, median, timed};
use crate::report::Grid;

/// Bytes of the keys.
const LENGTHS: [usize; 9] = [4, 8, 16, 32, 64, 128, 256, 1024, 4096];
/// Bytes that are hashed in a run of one length.
const VOLUME: usize = 1 << 22;

/// Prints the table.
///
/// # Errors
///
/// If the filters cannot be built.
pub fn report(args: &HashArgs) -> Result<()> {
    print!("{}", table(args)?);
    Ok(())
}

fn table(args: &HashArgs) -> Result<Grid> {
    let hashers = [KeyHasher::new(1), KeyHasher::sip13(1)];
    let mut grid = Grid::new(
        format!("Nanoseconds a key, and filters of {} keys at 0.1 %", args.keys),
        ["", "XXH3-64", "SipHash-1-3", "ratio"].map(str::to_owned),
    );
    let mut row = |name: String, [first, second]: [f64; 2]| {
        let cells = [first, second, second / first].map(|cell| format!("{cell:.2}"));
        grid.row([name].into_iter().chain(cells));
    };
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(VOLUME).collect();
    for length in LENGTHS {
        let times = medians(args.runs, (bytes.len() / length) as u64, |side| {
            let hash = |sum: u64, key| sum ^ hashers[side].hash_bytes(black_box(key));
            black_box(bytes.chunks_exact(length).fold(0, hash));
        });
        row(format!("{length} bytes"), times);
    }
    let keys: Vec<u64> = (0..args.keys).map(|i| Keys::new(1).key(i)).collect();
    let texts: Vec<String> = keys.iter().map(|key| format!("{key:020}")).collect();
    let build = |hasher| CuckooFilter::builder().fpr(0.001).with_hasher(hasher).capacity(args.keys);
    let filters = [build(hashers[0]).build_from(&keys)?, build(hashers[1]).build_from(&keys)?];
    let found = |some: &[bool]| some.iter().filter(|&&found| found).count();
    let mut lookups = |name: &str, look: &mut dyn FnMut(&CuckooFilter) -> usize| {
        let each = |side: usize| _ = black_box(look(&filters[side]));
        row(name.to_owned(), medians(args.runs, args.keys, each));
    };
    lookups("contains, u64", &mut |f| keys.iter().filter(|&key| f.contains(key)).count());
    lookups("contains_many, u64", &mut |f| found(&f.contains_many(&keys)));
    lookups("contains, 20 bytes", &mut |f| texts.iter().filter(|&key| f.contains(key)).count());
    lookups("contains_many, 20 bytes", &mut |f| found(&f.contains_many(&texts)));
    Ok(grid)
}

/// Median nanoseconds per operation of both sides, which take turns.
fn medians(runs: u32, operations: u64, mut work: impl FnMut(usize)) -> [f64; 2] {
    let mut times = [vec![], vec![]];
    for run in 0..runs {
        for side in alternating(2, run) {
            let mut time = Duration::ZERO;
            timed(&mut time, || work(side));
            times[side].push(time.as_secs_f64() * 1e9 / operations as f64);
        }
    }
    times.map(|times| median(&times).unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_functions_stand_side_by_side() {
        let text = table(&HashArgs { keys: 1000, runs: 1 }).unwrap().to_string();
        for row in ["4 bytes", "4096 bytes", "contains_many, 20 bytes"] {
            assert!(text.lines().any(|line| line.contains(row)), "{text}");
        }
    }
}
