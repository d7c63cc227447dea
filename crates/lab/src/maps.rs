//! Maps and the cuckoo hash table beside ordinary hash tables: the standard library's, and
//! hashbrown, which is the same table with a faster hasher.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use hashbrown::HashMap as Hashbrown;
use malkoha::{CuckooMap, GrowableCuckooMap, Key, KeyHasher};
use malkoha_classic::{BucketedCuckooTable, Growth};

use crate::args::MapsArgs;
use crate::keys::{Keys, Present};
use crate::machine::Machine;
use crate::measure::{alternating, median, rate, timed};
use crate::report::{Grid, Report, number};

/// Bits of the values, which all of the tables keep.
const VALUE_BITS: u32 = 32;
/// Keys that are looked up at a time.
const BATCH: usize = 4096;

/// A table under measurement.
trait Table {
    fn insert_all(&mut self, pairs: &[(u64, u32)]) -> Result<()>;
    /// The sum of what is found for keys one by one.
    fn get(&self, keys: &[u64]) -> u64;
    /// The same for all at once, if there is such a method.
    fn get_many(&self, keys: &[u64]) -> Option<u64>;
    fn bytes(&self) -> u64;
    /// The share of the slots that are occupied.
    fn load(&self) -> f64;
    /// How many of the keys could be removed, if it removes.
    fn remove(&mut self, _: &[u64]) -> Option<u64> {
        None
    }
}

macro_rules! hash_table {
    ($map:ident) => {
        impl<S: BuildHasher> Table for $map<u64, u32, S> {
            fn insert_all(&mut self, pairs: &[(u64, u32)]) -> Result<()> {
                for &(key, value) in pairs {
                    self.insert(key, value);
                }
                Ok(())
            }
            fn get(&self, keys: &[u64]) -> u64 {
                keys.iter().map(|key| self.get(key).map_or(0, |&value| value.into())).sum()
            }
            fn get_many(&self, _: &[u64]) -> Option<u64> {
                None
            }
            fn bytes(&self) -> u64 {
                places(self.capacity()) * (size_of::<(u64, u32)>() as u64 + 1)
            }
            fn load(&self) -> f64 {
                self.len() as f64 / places(self.capacity()) as f64
            }
            fn remove(&mut self, keys: &[u64]) -> Option<u64> {
                Some(keys.iter().map(|key| u64::from(self.remove(key).is_some())).sum())
            }
        }
    };
}

hash_table!(HashMap);
hash_table!(Hashbrown);

/// Slots of a hash table for `capacity` keys: a power of two, of which seven eighths are used, each
/// with a control byte.
fn places(capacity: usize) -> u64 {
    (capacity as u64 * 8 / 7).next_power_of_two()
}

impl<const D: usize, const B: usize> Table for BucketedCuckooTable<u64, u32, D, B> {
    fn insert_all(&mut self, pairs: &[(u64, u32)]) -> Result<()> {
        for &(key, value) in pairs {
            self.insert(key, value).map_err(|refused| anyhow!("{}", refused.full))?;
        }
        Ok(())
    }
    fn get(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|key| self.get(key).map_or(0, |&value| value.into())).sum()
    }
    fn get_many(&self, keys: &[u64]) -> Option<u64> {
        let found = self.get_many(keys);
        Some(found.iter().map(|value| value.map_or(0, |&value| value.into())).sum())
    }
    fn bytes(&self) -> u64 {
        self.size_in_bytes()
    }
    fn load(&self) -> f64 {
        self.load_factor()
    }
    fn remove(&mut self, keys: &[u64]) -> Option<u64> {
        Some(keys.iter().map(|key| u64::from(self.remove(key).is_some())).sum())
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
            fn load(&self) -> f64 {
                self.load_factor()
            }
        }
    };
}

table!(CuckooMap);
table!(GrowableCuckooMap);

/// The rates of one table, in million keys per second.
#[derive(Default)]
struct Rates {
    /// By the share of keys that are present, one by one and all at once.
    lookups: [[Vec<f64>; 2]; Present::ALL.len()],
    insert: f64,
    remove: Option<f64>,
    load: f64,
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
    let mut tables = tables(args, keys)?;
    let names = Keys::new(args.seed);
    let mut members = vec![0; usize::try_from(keys)?];
    names.members(0, &mut members);
    let pairs: Vec<(u64, u32)> = members.iter().map(|&key| (key, (key >> 32) as u32)).collect();
    let mut rates: Vec<Rates> = Vec::new();
    for (_, table) in &mut tables {
        let mut time = Duration::ZERO;
        timed(&mut time, || table.insert_all(&pairs))?;
        let (load, bytes) = (table.load(), table.bytes() as f64 / keys as f64);
        rates.push(Rates { insert: rate(keys, time), load, bytes, ..Rates::default() });
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
    for ((_, table), rates) in tables.iter_mut().zip(&mut rates) {
        let mut time = Duration::ZERO;
        let removed = timed(&mut time, || table.remove(&members));
        ensure!(removed.is_none_or(|removed| removed == keys), "a key is missing");
        rates.remove = removed.map(|removed| rate(removed, time));
    }
    let title =
        format!("{keys} keys, values of {VALUE_BITS} bits: million a second, {} runs", args.runs);
    let mixes = |what: &str| Present::ALL.map(|Present(percent)| format!("{what}, {percent} %"));
    let head = ["".to_owned()].into_iter().chain(mixes("get")).chain(mixes("get_many"));
    let mut grid = Grid::new(
        title,
        head.chain(["insert", "remove", "load", "bytes a key"].map(str::to_owned)),
    );
    for ((name, _), rates) in tables.iter().zip(&rates) {
        let of = |how: usize| rates.lookups.iter().map(move |mix| number(median(&mix[how])));
        let Rates { insert, remove, load, bytes, .. } = *rates;
        let last = [Some(insert), remove, Some(load), Some(bytes)].map(number);
        grid.row([(*name).to_owned()].into_iter().chain(of(0)).chain(of(1)).chain(last));
    }
    Ok(grid)
}

/// Makes a contender, empty.
type Make = fn(&MapsArgs, u64) -> Result<Box<dyn Table>>;

/// The contenders. Hash tables are made for their keys, as the cuckoo tables are, and also grow
/// from nothing.
const CONTENDERS: [(&str, Make); 9] = [
    ("HashMap of std", |_, keys| {
        Ok(Box::new(HashMap::<u64, u32>::with_capacity(usize::try_from(keys)?)))
    }),
    ("HashMap of std, growing", |_, _| Ok(Box::new(HashMap::<u64, u32>::new()))),
    ("hashbrown", |_, keys| {
        Ok(Box::new(Hashbrown::<u64, u32>::with_capacity(usize::try_from(keys)?)))
    }),
    ("hashbrown, growing", |_, _| Ok(Box::new(Hashbrown::<u64, u32>::new()))),
    ("cuckoo table, 2 x 4", |args, keys| Ok(Box::new(cuckoo::<2, 4>(keys, args.seed)?))),
    ("cuckoo table, 2 x 4, growing", |_, _| {
        let growing = BucketedCuckooTable::<u64, u32, 2, 4>::with_capacity(64)?;
        Ok(Box::new(growing.with_growth(Growth::Rehash)))
    }),
    ("cuckoo table, 4 x 2", |args, keys| Ok(Box::new(cuckoo::<4, 2>(keys, args.seed)?))),
    ("CuckooMap", |args, keys| Ok(Box::new(CuckooMap::with_capacity(keys, args.fpr, VALUE_BITS)?))),
    ("GrowableCuckooMap, from a thousandth", |args, keys| {
        let from = keys / 1000 + 1;
        Ok(Box::new(GrowableCuckooMap::with_capacity(from, args.fpr, VALUE_BITS)?))
    }),
];

/// What `--only` accepts.
pub(crate) fn names() -> [&'static str; CONTENDERS.len()] {
    CONTENDERS.map(|(name, _)| name)
}

/// Those that were asked for by name; all, if none was.
fn tables(args: &MapsArgs, keys: u64) -> Result<Vec<(&'static str, Box<dyn Table>)>> {
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let wanted = CONTENDERS.into_iter().filter(|(name, _)| wanted(name));
    wanted.map(|(name, make)| Ok((name, make(args, keys)?))).collect()
}

fn cuckoo<const D: usize, const B: usize>(
    keys: u64,
    seed: u64,
) -> Result<BucketedCuckooTable<u64, u32, D, B>> {
    Ok(BucketedCuckooTable::with_capacity_and_hasher(keys, KeyHasher::new(seed))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_and_hash_tables_find_the_same() {
        let keys: Vec<u64> = (0..2_000).map(|position| Keys::new(1).key(position)).collect();
        let pairs: Vec<(u64, u32)> = keys.iter().zip(1..).map(|(&key, i)| (key, i)).collect();
        let mut args = MapsArgs {
            keys: vec![],
            only: vec![],
            fpr: 1e-7,
            lookups: 5_000,
            runs: 1,
            seed: 1,
            date: None,
        };
        for (name, mut table) in tables(&args, 2_000).unwrap() {
            table.insert_all(&pairs).unwrap();
            assert_eq!(table.get(&keys), 2_001_000, "{name}");
            assert!(table.get_many(&keys).is_none_or(|sum| sum == 2_001_000), "{name}");
            assert!((0.2..1.0).contains(&table.load()), "{name}: {}", table.load());
            assert!(table.remove(&keys).is_none_or(|removed| removed == 2_000), "{name}");
        }
        let text = super::table(&args, 3_000).unwrap().to_string();
        assert!(text.contains("hashbrown") && text.contains("get_many, "), "{text}");
        args.only = vec!["hashbrown".to_owned()];
        let text = super::table(&args, 3_000).unwrap().to_string();
        assert!(text.contains("hashbrown") && !text.contains("CuckooMap"), "{text}");
    }
}
