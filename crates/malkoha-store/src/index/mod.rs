//! From a key's hash to the locations at which its record may lie.
//!
//! The index is 64 [`GrowableCuckooMap`]s, each behind a lock of its own. Such a part grows a
//! segment at a time, so no write waits for long. A snapshot shares the parts with the store until
//! the store changes them. Taking one costs nothing, and the first change copies a shared part.

mod checkpoint;
mod renewal;
mod widening;

use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use malkoha::locks::biased::{Biased, Writing};
use malkoha::{GrowableCuckooMap, Sole};

use crate::error::{Error, Result};

pub(crate) use checkpoint::{
    Checkpoint, FileEntry, NAME as CHECKPOINT, TEMPORARY, read, remove, size, write,
};

/// The number of parts: a power of two.
pub(crate) const PARTS: usize = 64;
const PART_BITS: u32 = PARTS.trailing_zeros();
/// Bits of a location: 2^40 units of 8 bytes are 8 TiB.
const LOCATION_BITS: u32 = 40;
/// The greatest share of absent keys that cost a read of the log, until the parts have grown by
/// `GROWTH`. At this rate fingerprints have 14 bits once a part has split: short enough to compare
/// four in one word of 64 bits.
const FPR: f64 = 0.003;
/// The share of occupied slots below which shrinking a part is worthwhile. Growth alone leaves
/// more.
const SPARSE: f64 = 0.7;
/// The keys that a part has room for at first, and the growth until which it keeps the rate. At
/// eight times as many keys, 250 million in all parts, segments could not split without `renewal`.
const PART_CAPACITY: u64 = 256;
const GROWTH: f64 = 2048.0;

pub(crate) type Part = Arc<GrowableCuckooMap>;

/// Keys, by their hashes.
pub(crate) struct Index {
    parts: Box<[Biased<Part>; PARTS]>,
    /// How many parts have been widened, see `widening`.
    widened: AtomicUsize,
    /// For each part, the splits that were left after its last renewal.
    settled: [AtomicU32; PARTS],
}

/// An [`Index`] that does not change.
#[derive(Clone)]
pub(crate) struct IndexSnapshot {
    parts: Box<[Part]>,
}

/// The locations that the index has for a hash: at least one.
pub(crate) enum Candidates {
    /// As usual.
    One(u64),
    /// Some are of other keys.
    Several(Vec<u64>),
}

impl Candidates {
    /// Those of a part, if it has any.
    #[inline(always)]
    fn of(part: &GrowableCuckooMap, hash: u64) -> Option<Self> {
        match part.sole_candidate(hash) {
            Sole::Absent => None,
            Sole::Value(location) => Some(Self::One(location)),
            Sole::Several => Some(Self::several(part, hash)),
        }
    }

    #[cold]
    #[inline(never)]
    fn several(part: &GrowableCuckooMap, hash: u64) -> Self {
        Self::Several(part.get_hash(hash).collect())
    }

    #[inline(always)]
    pub(crate) fn as_slice(&self) -> &[u64] {
        match self {
            Self::One(location) => slice::from_ref(location),
            Self::Several(locations) => locations,
        }
    }
}

/// The highest bits choose the part; the map of a part gets the others as its highest.
#[inline(always)]
fn place(hash: u64) -> (usize, u64) {
    (crate::log::to_usize(hash >> (u64::BITS - PART_BITS)), hash.rotate_left(PART_BITS))
}

#[inline(always)]
pub(crate) fn part_of(hash: u64) -> usize {
    place(hash).0
}

fn empty_part(fpr: f64, growth: f64) -> Result<Part> {
    let builder = GrowableCuckooMap::builder().capacity(PART_CAPACITY).fpr(fpr).growth(growth);
    let map = builder.value_bits(LOCATION_BITS).build();
    Ok(Arc::new(map.map_err(|_| Error::Option("the index has no such shape"))?))
}

impl Index {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self::from_parts((0..PARTS).map(|_| empty_part(FPR, GROWTH)).collect::<Result<_>>()?))
    }

    /// One whose segments split twice, unless keys are renewed.
    #[cfg(test)]
    pub(crate) fn exhausted_soon() -> Self {
        Self::from_parts((0..PARTS).map(|_| empty_part(0.1, 1.0).unwrap()).collect())
    }

    /// Exactly [`PARTS`] parts.
    fn from_parts(parts: Vec<Part>) -> Self {
        let parts: Box<[Biased<Part>]> = parts.into_iter().map(Biased::new).collect();
        Self {
            parts: parts.try_into().unwrap_or_else(|_| panic!("parts of an index")),
            widened: AtomicUsize::new(0),
            settled: [const { AtomicU32::new(u32::MAX) }; PARTS],
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.read().len()).sum()
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.read().size_in_bytes()).sum()
    }

    /// The locations of a hash, if it has any, and the result of `with`. No location of the hash
    /// changes before `with` returns.
    #[inline]
    pub(crate) fn find<T>(&self, hash: u64, with: impl FnOnce() -> T) -> Option<(Candidates, T)> {
        let (part, hash) = place(hash);
        // Without a lock if nobody writes.
        if let Some(part) = self.parts[part].open() {
            return Some((Candidates::of(&part, hash)?, with()));
        }
        let part = self.parts[part].read();
        Some((Candidates::of(&part, hash)?, with()))
    }

    /// Whether the record at this location is the present one of its key.
    pub(crate) fn has(&self, hash: u64, location: u64) -> bool {
        let (part, hash) = place(hash);
        self.parts[part].read().get_hash(hash).any(|found| found == location)
    }

    /// The locations of many hashes: calls `each(position, location)`.
    pub(crate) fn find_many(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        let (order, begins) = by_part(hashes);
        let sorted: Vec<u64> = order.iter().map(|&i| place(hashes[i as usize]).1).collect();
        let mut found = vec![Sole::Absent; hashes.len()];
        for (number, run) in begins.windows(2).map(|ends| ends[0]..ends[1]).enumerate() {
            if run.is_empty() {
                continue;
            }
            let part = self.parts[number].read();
            let (hashes, found) = (&sorted[run.clone()], &mut found[run.clone()]);
            part.sole_candidates(hashes, found);
            for ((&i, sole), &hash) in order[run].iter().zip(found).zip(hashes) {
                match *sole {
                    Sole::Absent => {}
                    Sole::Value(location) => each(i as usize, location),
                    Sole::Several => part.get_hash(hash).for_each(|it| each(i as usize, it)),
                }
            }
        }
    }

    pub(crate) fn prefetch(&self, hash: u64) {
        let (part, hash) = place(hash);
        self.parts[part].read().prefetch_hash(hash);
    }

    #[inline]
    pub(crate) fn part_mut(&self, number: usize) -> PartMut<'_> {
        PartMut { part: self.parts[number].write() }
    }

    #[inline]
    pub(crate) fn part_mut_of(&self, hash: u64) -> PartMut<'_> {
        self.part_mut(part_of(hash))
    }

    /// Returns memory, part by part, if much of it is unused.
    pub(crate) fn shrink(&self) {
        for number in 0..PARTS {
            let mut part = self.part_mut(number);
            if part.part.load_factor() < SPARSE {
                part.shrink();
                self.settled[number].store(u32::MAX, Ordering::Relaxed);
            }
        }
        // Parts that were widened need it again.
        self.widened.store(0, Ordering::Relaxed);
    }

    /// All parts as they are. Nobody may write meanwhile, or they would be of different times.
    pub(crate) fn snapshot(&self) -> IndexSnapshot {
        IndexSnapshot { parts: self.parts.iter().map(|part| Arc::clone(&part.read())).collect() }
    }
}

impl IndexSnapshot {
    pub(crate) fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.len()).sum()
    }

    pub(crate) fn find(&self, hash: u64) -> Option<Candidates> {
        let (part, hash) = place(hash);
        Candidates::of(&self.parts[part], hash)
    }

    pub(crate) fn prefetch(&self, hash: u64) {
        let (part, hash) = place(hash);
        self.parts[part].prefetch_hash(hash);
    }

    /// Whether the record at this location was the present one of its key.
    pub(crate) fn has(&self, hash: u64, location: u64) -> bool {
        let (part, hash) = place(hash);
        self.parts[part].get_hash(hash).any(|found| found == location)
    }
}

pub(crate) struct PartMut<'a> {
    part: Writing<'a, Part>,
}

impl PartMut<'_> {
    pub(crate) fn find(&self, hash: u64) -> Option<Candidates> {
        Candidates::of(&self.part, place(hash).1)
    }

    pub(crate) fn prefetch(&self, hash: u64) {
        self.part.prefetch_hash(place(hash).1);
    }

    /// Makes room for `keys` keys, with locations up to this one.
    pub(crate) fn reserve(&mut self, keys: u64, location: u64) -> Result<()> {
        Ok(Arc::make_mut(&mut self.part).reserve(keys, location.min((1 << LOCATION_BITS) - 1))?)
    }

    pub(crate) fn shrink(&mut self) {
        Arc::make_mut(&mut self.part).shrink_to_fit();
    }

    /// Adds a key that is not in.
    pub(crate) fn insert(&mut self, hash: u64, location: u64) -> Result<()> {
        Ok(Arc::make_mut(&mut self.part).insert_hash(place(hash).1, location)?)
    }

    /// Moves a key that is in.
    pub(crate) fn update(&mut self, hash: u64, old: u64, new: u64) -> Result<()> {
        Arc::make_mut(&mut self.part).update_hash(place(hash).1, old, new)?;
        Ok(())
    }

    /// Removes a key that is in.
    pub(crate) fn remove(&mut self, hash: u64, location: u64) {
        Arc::make_mut(&mut self.part).remove_hash(place(hash).1, location);
    }
}

/// The positions of the hashes, those of a part together, and where those of each part begin.
/// Fewer than 2^32.
fn by_part(hashes: &[u64]) -> (Vec<u32>, [usize; PARTS + 1]) {
    // The count of a part is two entries behind its own, so that filling moves it to the next.
    let mut begins = [0; PARTS + 2];
    for &hash in hashes {
        begins[part_of(hash) + 2] += 1;
    }
    for part in 1..=PARTS {
        begins[part + 1] += begins[part];
    }
    let mut order = vec![0; hashes.len()];
    for (i, &hash) in (0..).zip(hashes) {
        let at = &mut begins[part_of(hash) + 1];
        order[*at] = i;
        *at += 1;
    }
    (order, std::array::from_fn(|part| begins[part]))
}

/// The error of a location without a file.
#[cold]
pub(crate) fn lost_file() -> Error {
    Error::Damaged { file: CHECKPOINT.to_owned(), offset: 0, what: "a location lies in no file" }
}
