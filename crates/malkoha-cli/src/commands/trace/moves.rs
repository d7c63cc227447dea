//! The moves of an insert: the library's own map, with each line's number as its value, is read
//! before and after.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use malkoha::{CuckooMap, Layout};

/// A table of the library that knows the key of each fingerprint.
pub(super) struct Table {
    map: CuckooMap,
    /// The same, empty.
    empty: CuckooMap,
    bucket_size: u64,
    /// The bucket of each line that is in.
    pub(super) places: BTreeMap<usize, u32>,
}

/// How a table is made.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Slots it may have at most.
    pub(super) slots: u64,
    /// Slots per bucket.
    pub(super) bucket_size: u32,
    pub(super) fingerprint_bits: u32,
}

/// Bits of a line's number.
const VALUE_BITS: u32 = 16;

/// A line and its way from one bucket to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) line: usize,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The outcome of a line.
pub(super) struct Step {
    /// Its two buckets, which can be the same.
    pub(super) buckets: [u32; 2],
    /// The bucket it went to; `None` if it was refused.
    pub(super) place: Option<u32>,
    /// The lines that made room, in the order in which they were displaced.
    pub(super) moves: Vec<Move>,
    /// Keys in each bucket afterwards.
    pub(super) fullness: Vec<u32>,
}

impl Shape {
    /// The largest table of these slots. The library gives small ones more room than their keys
    /// need, so the keys are those for which it takes no more slots.
    fn empty(self) -> Result<CuckooMap> {
        let layout = Layout::Bucketed { bucket_size: self.bucket_size };
        let of = |capacity| {
            let builder = CuckooMap::builder().capacity(capacity).layout(layout);
            let builder = builder.fingerprint_bits(self.fingerprint_bits).value_bits(VALUE_BITS);
            builder.build().context("cannot make such a table")
        };
        let (mut fits, mut too_many) = (1, self.slots + 1);
        while too_many - fits > 1 {
            let capacity = (too_many + fits) / 2;
            if of(capacity)?.geometry().slots() <= self.slots {
                fits = capacity;
            } else {
                too_many = capacity;
            }
        }
        of(fits)
    }
}

impl Table {
    pub(super) fn new(shape: Shape) -> Result<Self> {
        let empty = shape.empty()?;
        let bucket_size = shape.bucket_size.into();
        Ok(Self { map: empty.clone(), empty, bucket_size, places: BTreeMap::new() })
    }

    /// Buckets of the table.
    pub(super) fn buckets(&self) -> u32 {
        self.map.geometry().places
    }

    /// Inserts a line that is not in, and returns which lines moved for it.
    pub(super) fn insert(&mut self, number: usize, line: &[u8]) -> Result<Step> {
        let value = u64::try_from(number)?;
        let buckets = self.buckets_of(line)?;
        let accepted = self.map.insert(line, value).is_ok();
        let after = places(&self.map);
        let place = after.get(&number).copied();
        let mut moves = Vec::new();
        let mut displaced = place.filter(|_| accepted);
        // Each line that moved made room in a bucket for the one before.
        while let Some(bucket) = displaced {
            let moved = self.places.iter().find_map(|(&line, &from)| {
                let to = *after.get(&line)?;
                (from == bucket && to != from).then_some(Move { line, from, to })
            });
            // Each line moves at most once.
            let new = moved.filter(|moved| !moves.contains(moved));
            moves.extend(new);
            displaced = new.map(|moved| moved.to);
        }
        self.places = after;
        let mut fullness = vec![0; usize::try_from(self.buckets())?];
        for &bucket in self.places.values() {
            fullness[usize::try_from(bucket)?] += 1;
        }
        Ok(Step { buckets, place, moves, fullness })
    }

    /// Both buckets of a key. In an otherwise empty table, copies of the key fill exactly these.
    fn buckets_of(&self, line: &[u8]) -> Result<[u32; 2]> {
        let mut alone = self.empty.clone();
        for copy in 0..2 * self.bucket_size {
            alone.insert(line, copy).context("cannot insert into an empty table")?;
        }
        let found = places(&alone);
        let least = found.values().min().copied().unwrap_or(0);
        Ok([least, found.values().max().copied().unwrap_or(least)])
    }
}

/// The bucket of each value.
fn places(map: &CuckooMap) -> BTreeMap<usize, u32> {
    map.entries()
        .filter_map(|entry| Some((usize::try_from(entry.value).ok()?, entry.place)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_chains_between_the_buckets_of_each_line() {
        let shape = Shape { slots: 200, bucket_size: 2, fingerprint_bits: 16 };
        let mut table = Table::new(shape).unwrap();
        let lines: Vec<String> = (0..210).map(|n| format!("line {n}")).collect();
        let (mut both, mut moved, mut refused) = (Vec::new(), 0, 0);
        for (number, line) in lines.iter().enumerate() {
            let before = table.places.clone();
            let step = table.insert(number, line.as_bytes()).unwrap();
            both.push(step.buckets);
            let Some(place) = step.place else {
                refused += 1;
                assert!(step.moves.is_empty() && table.places == before);
                continue;
            };
            assert!(step.buckets.contains(&place));
            let mut end = place;
            for &Move { line, from, to } in &step.moves {
                assert_eq!(from, end);
                assert!(both[line].contains(&from) && both[line].contains(&to));
                end = to;
                moved += 1;
            }
            let changed = before.iter().filter(|(line, bucket)| table.places[line] != **bucket);
            assert_eq!(changed.count(), step.moves.len(), "every move is shown");
            assert!(step.fullness.iter().all(|&keys| keys <= 2));
        }
        assert!(moved > 20 && refused >= 10, "{moved} moves, {refused} refused");
    }
}
