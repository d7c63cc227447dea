//! Maps beside hash tables: the standard library's, with its own hasher and with a fast one. It is
//! hashbrown's table, so the latter is what that crate gives with such a hasher.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;
use malkoha::{CuckooMap, GrowableCuckooMap, Key};

use crate::args::MapsArgs;
use crate::keys::{Keys, Present};
use crate::machine::Machine;
use crate::measure::{alternating, median, rate, timed};
use crate::report::{Grid, Report, number};

/// Bits of the values, which all of the tables keep.
const VALUE_BITS: u32 = 32;
/// Keys that are asked for at a time.
const BATCH: usize = 4096;

/// One multiplication and a fold: as little as a hash table gets by with.
#[derive(Default)]
struct Fast(u64);

impl Hasher for Fast {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }
    fn write_u64(&mut self, key: u64) {
        let product = u128::from(self.0 ^ key) * 0x9e37_79b9_7f4a_7c15;
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let low = product as u64;
        self.0 = (product >> 64) as u64 ^ low;
    }
}

/// A table under measurement.
trait Table {
    fn insert_all(&mut self, pairs: &[(u64, u32)]) -> Result<()>;
    /// The sum of what is found for keys one by one.
    fn get(&self, keys: &[u64]) -> u64;
    /// The same for all at once, if there is such a method.
    fn get_many(&self, keys: &[u64]) -> Option<u64>;
    fn bytes(&self) -> u64;
}

impl<S: BuildHasher> Table for HashMap<u64, u32, S> {
    fn insert_all(&mut self, pairs: &[(u64, u32)]) -> Result<()> {
        self.extend(pairs.iter().copied());
        Ok(())
    }
    fn get(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|key| self.get(key).map_or(0, |&value| value.into())).sum()
    }
    fn get_many(&self, _: &[u64]) -> Option<u64> {
        None
    }
    /// A power of two of places, of which seven eighths are used, each with a byte beside it.
    fn bytes(&self) -> u64 {
        let places = (self.capacity() * 8 / 7).next_power_of_two();
        (places * (size_of::<(u64, u32)>() + 1)) as u64
    }
}

macro_rules! table {
    ($map:ty) => {
        impl Table for $map {
            fn insert_all(&mut self, pairs: &[(u64, u32)]) -> Result<()> {
                for pairs in pairs.chunks(BATCH) {
                    let wide =
                        |&(key, value): &(u64, u32)| (key.hash_with(self.hasher()), value.into());
                    let hashed: Vec<(u64, u64)> = pairs.iter().map(wide).collect();
                    self.insert_hashes(&hashed)?;
                }
                Ok(())
            }
            fn get(&self, keys: &[u64]) -> u64 {
                keys.iter().map(|key| self.get(key).sum::<u64>()).sum()
            }
            fn get_many(&self, keys: &[u64]) -> Option<u64> {
                let mut sum = 0;
                self.get_many(keys, |_, value| sum += value);
                Some(sum)
            }
            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }
        }
    };
}

table!(CuckooMap);
table!(GrowableCuckooMap);

/// The rates of one table, in million keys a second.
#[derive(Default)]
struct Rates {
    /// By the share of keys that are present, one by one and all at once.
    lookups: [[Vec<f64>; 2]; Present::ALL.len()],
    insert: f64,
    bytes: f64,
}

/// Measures and prints.
///
/// # Errors
///
/// If a map cannot be built, or refuses a key.
pub fn report(args: &MapsArgs) -> Result<()> {
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    for &keys in &args.keys {
        print!("{}", table(args, keys)?);
    }
    Ok(())
}

fn table(args: &MapsArgs, keys: u64) -> Result<Grid> {
    let fast: HashMap<u64, u32, BuildHasherDefault<Fast>> = HashMap::default();
    let fixed = CuckooMap::with_capacity(keys, args.fpr, VALUE_BITS)?;
    let growing = GrowableCuckooMap::with_capacity(keys / 1000 + 1, args.fpr, VALUE_BITS)?;
    let mut tables: Vec<(&str, Box<dyn Table>)> = vec![
        ("HashMap of std", Box::new(HashMap::<u64, u32>::new())),
        ("the same, fast hasher", Box::new(fast)),
        ("CuckooMap", Box::new(fixed)),
        ("GrowableCuckooMap, from a thousandth", Box::new(growing)),
    ];
    let names = Keys::new(args.seed);
    let mut members = vec![0; usize::try_from(keys)?];
    names.members(0, &mut members);
    let pairs: Vec<(u64, u32)> = members.iter().map(|&key| (key, (key >> 32) as u32)).collect();
    let mut rates: Vec<Rates> = Vec::new();
    for (_, table) in &mut tables {
        let mut time = Duration::ZERO;
        timed(&mut time, || table.insert_all(&pairs))?;
        let bytes = table.bytes() as f64 / keys as f64;
        rates.push(Rates { insert: rate(keys, time), bytes, ..Rates::default() });
    }
    let mut queries = vec![0; usize::try_from(args.lookups)?];
    for run in 0..args.runs {
        for (mix, present) in Present::ALL.into_iter().enumerate() {
            names.queries(present, keys, u64::from(run) * args.lookups, &mut queries);
            for number in alternating(tables.len(), run) {
                let (table, lookups) = (&tables[number].1, &mut rates[number].lookups[mix]);
                let mut time = Duration::ZERO;
                timed(&mut time, || black_box(table.get(&queries)));
                lookups[0].push(rate(args.lookups, time));
                let mut time = Duration::ZERO;
                let has_batches = timed(&mut time, || {
                    queries.chunks(BATCH).all(|keys| black_box(table.get_many(keys)).is_some())
                });
                if has_batches {
                    lookups[1].push(rate(args.lookups, time));
                }
            }
        }
    }
    let title =
        format!("{keys} keys, values of {VALUE_BITS} bits: million a second, {} runs", args.runs);
    let mixes = |what: &str| Present::ALL.map(|Present(percent)| format!("{what}, {percent} %"));
    let head = ["".to_owned()].into_iter().chain(mixes("get")).chain(mixes("get_many"));
    let mut grid = Grid::new(title, head.chain(["insert", "bytes a key"].map(str::to_owned)));
    for ((name, _), rates) in tables.iter().zip(&rates) {
        let of = |how: usize| rates.lookups.iter().map(move |mix| number(median(&mix[how])));
        let last = [rates.insert, rates.bytes].map(|value| number(Some(value)));
        grid.row([(*name).to_owned()].into_iter().chain(of(0)).chain(of(1)).chain(last));
    }
    Ok(grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_and_hash_tables_find_the_same() {
        let keys: Vec<u64> = (0..2_000).map(|position| Keys::new(1).key(position)).collect();
        let pairs: Vec<(u64, u32)> = keys.iter().zip(1..).map(|(&key, i)| (key, i)).collect();
        let mut map = CuckooMap::with_capacity(2_000, 1e-7, VALUE_BITS).unwrap();
        let mut table: HashMap<u64, u32, BuildHasherDefault<Fast>> = HashMap::default();
        Table::insert_all(&mut map, &pairs).unwrap();
        Table::insert_all(&mut table, &pairs).unwrap();
        assert_eq!(Table::get(&map, &keys), 2_001_000);
        assert_eq!(Table::get(&table, &keys), 2_001_000);
        assert_eq!(Table::get_many(&map, &keys), Some(2_001_000));
        let args =
            MapsArgs { keys: vec![], fpr: 0.002, lookups: 5_000, runs: 1, seed: 1, date: None };
        let text = super::table(&args, 3_000).unwrap().to_string();
        assert!(text.contains("fast hasher") && text.contains("get_many, "), "{text}");
    }
}
