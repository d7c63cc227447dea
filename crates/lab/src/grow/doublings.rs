//! Growth from the first key to the last: at every doubling, the measured false-positive rate
//! beside the promised one.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use malkoha::GrowableCuckooFilter;

use super::{BATCH, absent_found, with_growth};
use crate::args::GrowArgs;
use crate::keys::Keys;
use crate::measure::timed;
use crate::report::Grid;

/// Absent keys looked up at each doubling.
const ABSENT: u64 = 4_000_000;

/// Inserts that take longer count as slow.
const SLOW: Duration = Duration::from_millis(1);

const HEAD: [&str; 9] = [
    "keys",
    "promised fpr",
    "expected fpr",
    "measured fpr",
    "bits/key",
    "load",
    "segments",
    "longest insert, us processor",
    "us clock",
];

/// Grows a filter, timing each insert by itself.
pub(super) fn report(args: &GrowArgs) -> Result<GrowableCuckooFilter> {
    let title = format!("Growth from {} to {} keys, fpr {}", args.start, args.keys, args.fpr);
    let (mut grid, keys) = (Grid::new(title, HEAD), Keys::new(args.seed));
    let mut csv = args.csv.as_ref().map(csv::Writer::from_path).transpose()?;
    if let Some(csv) = &mut csv {
        csv.write_record(HEAD)?;
    }
    let before = memory("VmRSS")?;
    let builder = GrowableCuckooFilter::builder().capacity(args.start).fpr(args.fpr);
    let mut filter = with_growth(builder, args.growth).build()?;
    filter.set_huge_pages(!args.ordinary_pages);
    let step = f64::from(args.between.max(1)).recip().exp2();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of keys")]
    let size =
        |number: i32| ((args.start as f64 * step.powi(number)).round() as u64).min(args.keys);
    let (mut number, mut next, mut largest) = (0, size(0), 0);
    let (mut by_processor, mut by_clock, mut slow) = (Duration::ZERO, Duration::ZERO, 0_u64);
    for position in 0..args.keys {
        let (start, mut time) = (Instant::now(), Duration::ZERO);
        timed(&mut time, || filter.insert(keys.key(position)))?;
        by_clock = by_clock.max(start.elapsed());
        by_processor = by_processor.max(time);
        slow += u64::from(time > SLOW);
        if position % 4096 == 0 {
            largest = largest.max(filter.size_in_bytes());
        }
        if position + 1 == next {
            let row = [
                next.to_string(),
                args.fpr.to_string(),
                format!("{:.6}", filter.expected_fpr()),
                format!("{:.6}", absent_found(&filter, keys, next, ABSENT) as f64 / ABSENT as f64),
                format!("{:.2}", filter.bits_per_key()),
                format!("{:.3}", filter.load_factor()),
                filter.segments().to_string(),
                format!("{:.0}", by_processor.as_secs_f64() * 1e6),
                format!("{:.0}", by_clock.as_secs_f64() * 1e6),
            ];
            if let Some(csv) = &mut csv {
                csv.write_record(&row)?;
            }
            grid.row(row);
            number += 1;
            next = size(number).max(next + 1).min(args.keys);
        }
    }
    let resident = memory("VmHWM")?.saturating_sub(before);
    print!("{grid}");
    let end = filter.size_in_bytes();
    println!(
        "\nfinal size {end} bytes; largest size {largest} bytes, {:.3} of it; \
         peak of resident memory {resident} bytes, {:.3} of it",
        largest as f64 / end as f64,
        resident as f64 / end as f64
    );
    println!("inserts that took over {} ms of the processor: {slow}", SLOW.as_millis());
    let mut lost = 0;
    each_batch(keys, args.keys, |batch| {
        lost += filter.contains_many(batch).into_iter().filter(|&found| !found).count();
    });
    println!("keys lost: {lost}");
    ensure!(lost == 0, "{lost} keys were lost");
    Ok(filter)
}

/// Removes everything and prints what is left.
pub(super) fn remove_all(args: &GrowArgs, mut filter: GrowableCuckooFilter) -> Result<()> {
    let mut missing = 0;
    each_batch(Keys::new(args.seed), args.keys, |batch| {
        missing += filter.remove_many(batch).into_iter().filter(|&removed| !removed).count();
    });
    println!(
        "\nafter removing all: {missing} not found, {} keys left, load {}, fpr {}, {} bytes",
        filter.len(),
        filter.load_factor(),
        filter.expected_fpr(),
        filter.size_in_bytes()
    );
    filter.shrink_to_fit();
    println!(
        "after shrink_to_fit: {} segments, {} bytes",
        filter.segments(),
        filter.size_in_bytes()
    );
    ensure!(missing == 0 && filter.is_empty(), "keys were lost or left");
    Ok(())
}

pub(super) fn each_batch(keys: Keys, len: u64, mut each: impl FnMut(&[u64])) {
    let mut batch = vec![0; BATCH];
    for first in (0..len).step_by(BATCH) {
        let part = usize::try_from(len - first).map_or(BATCH, |rest| rest.min(BATCH));
        keys.members(first, &mut batch[..part]);
        each(&batch[..part]);
    }
}

/// Bytes of this process's memory that the kernel reports under this name.
fn memory(name: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("asking for resident memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such line")?;
    let kib = line.trim_matches([':', ' ', '\t']).trim_end_matches(" kB");
    Ok(kib.trim().parse::<u64>()? * 1024)
}
