//! The limit of builds: a plain loop that sorts keys by segment and writes each to a random place
//! of its segment, as much sorting and writing as a build needs, without a filter.

use std::hint::black_box;

use anyhow::{Context, Result};
use memmap2::{Advice, MmapMut};

use crate::keys::scale;

/// Bytes of a segment: 2^18 slots of 12 bits.
const SEGMENT: usize = 384 << 10;
/// Keys of a segment that are sorted at a time, as in builds.
const ROUND: usize = 24 << 10;

/// Sorts the keys, which are random, by segment of a table of `bytes` bytes, a round at a time into
/// the same memory, and marks a word in the segment of each key.
pub(crate) fn partitioned(keys: &[u64], bytes: u64) -> Result<()> {
    let segments = usize::try_from(bytes)?.div_ceil(SEGMENT);
    let mut table = zeroed(segments * SEGMENT)?;
    // SAFETY: any bytes are a valid `u64`, and pages are aligned.
    let (_, table, _) = unsafe { table.align_to_mut::<u64>() };
    let round = (segments * ROUND).min(keys.len());
    let mean = round.div_ceil(segments);
    // Random keys spread evenly: none has more than five standard deviations above the mean.
    let room = mean + 5 * mean.isqrt() + 8;
    let mut sorted = zeroed(segments * room * 8)?;
    // SAFETY: as above.
    let (_, sorted, _) = unsafe { sorted.align_to_mut::<u64>() };
    let start = |segment: usize| segment * room;
    let mut ends: Vec<usize> = vec![0; segments];
    for keys in keys.chunks(round) {
        for (segment, end) in ends.iter_mut().enumerate() {
            *end = start(segment);
        }
        for &key in keys {
            let end = &mut ends[below(key, segments)];
            sorted[*end] = key;
            *end += 1;
        }
        for (segment, words) in table.chunks_mut(SEGMENT / 8).enumerate() {
            for &key in &sorted[start(segment)..ends[segment]] {
                words[below(key << 32, SEGMENT / 8)] |= key;
            }
        }
    }
    black_box(table);
    Ok(())
}

/// A number below `range`, from the upper half of a random key.
fn below(random: u64, range: usize) -> usize {
    usize::try_from(scale(random, range as u64)).unwrap_or(0)
}

/// Newly mapped zeroed memory, on huge pages where there are any.
fn zeroed(bytes: usize) -> Result<MmapMut> {
    let map = MmapMut::map_anon(bytes).context("memory for the loop")?;
    #[cfg(target_os = "linux")]
    let _ = map.advise(Advice::HugePage);
    Ok(map)
}
