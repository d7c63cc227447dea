//! Very many operations on every kind that grows, far beyond the size that it was built for, and on
//! kinds of fixed size that are full. The results are checked against a model, and the largest work
//! of one operation is reported.

#![expect(clippy::cast_possible_truncation, reason = "numbers of things in memory, and remainders")]

mod crafted;
mod full;
mod stream;
mod work;

use anyhow::{Result, ensure};
use clap::Args;
use malkoha::tables::{Lookup, most_places, most_places_growing};
use malkoha::{
    Builder, ConcurrentCuckooFilter, Content, Copies, CuckooFilter, CuckooMap, Filter, Geometry,
    GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap, GrowableCuckooFilter,
    GrowableCuckooMap,
};

use crate::args::parse_count;
use crate::machine::Machine;
use crate::results::Figures;
use stream::{CRAFTED, Stream};
use work::{Did, Meter};

/// Options of very many operations.
#[derive(Args, Clone, Debug)]
pub struct SoakArgs {
    /// Operations on each kind
    #[arg(long, value_parser = parse_count, default_value = "100M")]
    pub operations: u64,
    /// Run these kinds alone, named as in the table and parted by semicolons
    #[arg(long, value_delimiter = ';', value_parser = KINDS)]
    pub only: Vec<String>,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// The kinds that are run, as the tables name them.
pub const KINDS: [&str; 7] = [
    "one owner, set",
    "one owner, map",
    "shared, set",
    "shared, map",
    "fixed, set",
    "fixed, map",
    "fixed, shared set",
];

const UNIONS: u64 = 8;
/// Keys that kinds that grow are built for.
const CAPACITY: u64 = 1_000;
/// Bits of a value.
const VALUE_BITS: u32 = 20;

/// The operations of a kind, by hashes. `unite` and `shrink` are missing where a kind cannot.
struct Kind<F> {
    insert: fn(&mut F, u64) -> bool,
    remove: fn(&mut F, u64) -> bool,
    unite: Option<Unite<F>>,
    shrink: fn(&mut F),
}

type Unite<F> = fn(&mut F, &[u64]) -> Result<()>;

macro_rules! set {
    ($set:ty, $unite:expr, $shrink:expr) => {
        Kind::<$set> {
            insert: |set, hash| set.insert_hash(hash).is_ok(),
            remove: |set, hash| set.remove_hash(hash),
            unite: $unite,
            shrink: $shrink,
        }
    };
}

macro_rules! map {
    ($map:ty, $unite:expr, $shrink:expr) => {
        Kind::<$map> {
            insert: |map, hash| map.insert_hash(hash, value(hash)).is_ok(),
            remove: |map, hash| map.remove_hash(hash, value(hash)),
            unite: $unite,
            shrink: $shrink,
        }
    };
}

/// The value of a key.
const fn value(hash: u64) -> u64 {
    hash >> (64 - VALUE_BITS)
}

fn unite_set(set: &mut GrowableCuckooFilter, hashes: &[u64]) -> Result<()> {
    let mut other = GrowableCuckooFilter::with_capacity(10, 0.01)?;
    other.insert_hashes(hashes)?;
    Ok(set.unite(&other, Copies::Sum)?)
}

fn unite_map(map: &mut GrowableCuckooMap, hashes: &[u64]) -> Result<()> {
    let mut other = GrowableCuckooMap::with_capacity(10, 0.01, VALUE_BITS)?;
    let pairs: Vec<_> = hashes.iter().map(|&hash| (hash, value(hash))).collect();
    other.insert_hashes(&pairs)?;
    Ok(map.unite(&other, Copies::Sum)?)
}

/// Runs all kinds.
///
/// # Errors
///
/// If a key was lost, counted too low, or refused by a kind that grows, or an operation looked at
/// more places than is promised.
pub fn report(args: &SoakArgs) -> Result<()> {
    print!("{}", Machine::describe(args.date.clone()).head());
    let mut soak = Soak { args, all_held: true };
    soak.growing()?;
    soak.fixed()?;
    ensure!(soak.all_held, "see the last columns");
    Ok(())
}

struct Soak<'a> {
    args: &'a SoakArgs,
    all_held: bool,
}

impl Soak<'_> {
    fn growing(&mut self) -> Result<()> {
        let mut set: GrowableCuckooFilter =
            Builder::new().capacity(CAPACITY).fpr(0.5).growth(1.0).build()?;
        let kind = set!(GrowableCuckooFilter, Some(unite_set), |set| set.shrink_to_fit());
        self.grow("one owner, set", &mut set, kind)?;
        drop(set);
        let mut map = GrowableCuckooMap::with_capacity(CAPACITY, 0.01, VALUE_BITS)?;
        let kind = map!(GrowableCuckooMap, Some(unite_map), |map| map.shrink_to_fit());
        self.grow("one owner, map", &mut map, kind)?;
        drop(map);
        let mut set = GrowableConcurrentCuckooFilter::with_capacity(CAPACITY, 0.01)?;
        let kind = set!(GrowableConcurrentCuckooFilter, None, |set| set.shrink_to_fit());
        self.grow("shared, set", &mut set, kind)?;
        drop(set);
        let mut map = GrowableConcurrentCuckooMap::with_capacity(CAPACITY, 0.01, VALUE_BITS)?;
        let kind = map!(GrowableConcurrentCuckooMap, None, |map| map.shrink_to_fit());
        self.grow("shared, map", &mut map, kind)
    }

    fn fixed(&mut self) -> Result<()> {
        let mut set =
            CuckooFilter::builder().capacity(full::CAPACITY).fpr(0.01).bucket_size(4).build()?;
        let (geometry, kicks) = (*set.geometry(), set.max_kicks());
        self.fill("fixed, set", &mut set, &geometry, &set!(CuckooFilter, None, |_| {}), kicks);
        let mut map = CuckooMap::with_capacity(full::CAPACITY, 0.01, VALUE_BITS)?;
        let geometry = *map.geometry();
        self.fill("fixed, map", &mut map, &geometry, &map!(CuckooMap, None, |_| {}), kicks);
        let mut set = ConcurrentCuckooFilter::with_capacity(full::CAPACITY, 0.01)?;
        let geometry = *set.geometry();
        let kind = set!(ConcurrentCuckooFilter, None, |_| {});
        self.fill("fixed, shared set", &mut set, &geometry, &kind, kicks);
        Ok(())
    }

    /// Whether a kind is to be run.
    fn is_asked(&self, name: &str) -> bool {
        assert!(KINDS.contains(&name), "{name} cannot be asked for");
        self.args.only.is_empty() || self.args.only.iter().any(|only| only == name)
    }

    fn grow<T: Lookup, C: Content>(
        &mut self,
        name: &str,
        filter: &mut Filter<T, C>,
        kind: Kind<Filter<T, C>>,
    ) -> Result<()> {
        if !self.is_asked(name) {
            return Ok(());
        }
        let operations = self.args.operations;
        let crafted = crafted::for_growing((operations / CRAFTED) as usize);
        let mut stream = Stream::new(filter, kind, crafted, self.args.seed);
        let (mut next_check, mut next_union, mut unions) = (1 << 16, operations / UNIONS, 0_u64);
        stream.meter.resume();
        while stream.meter.operations() < operations {
            stream.step();
            if stream.meter.operations() >= next_union {
                next_union += operations / UNIONS;
                stream.shrink();
                unions += u64::from(stream.unite()?);
            }
            if stream.meter.operations() >= next_check {
                stream.check();
                next_check *= 2;
            }
        }
        stream.check();
        let filter = &stream.filter;
        let len = filter.len();
        let outcomes = [
            ("doublings", (len as f64 / filter.capacity() as f64).log2()),
            ("fpr expected", filter.expected_fpr()),
            ("bits/key", filter.bits_per_key()),
            ("unions", unions as f64),
        ];
        stream.shrink();
        stream.check();
        let (wrong, meter) = (stream.wrong, stream.meter);
        self.end(name, &meter, len, &outcomes, wrong, most_places_growing());
        Ok(())
    }

    fn fill<T: Lookup, C: Content>(
        &mut self,
        name: &str,
        filter: &mut Filter<T, C>,
        geometry: &Geometry,
        kind: &Kind<Filter<T, C>>,
        kicks: u32,
    ) {
        if self.is_asked(name) {
            let (mut meter, args) = (Meter::new(), self.args);
            let wrong = full::run(args.operations, args.seed, filter, geometry, kind, &mut meter);
            let outcomes = [("fpr expected", filter.expected_fpr())];
            let promised = most_places(kicks);
            self.end(name, &meter, filter.len(), &outcomes, wrong, promised);
        }
    }

    /// Prints the outcome of a kind, and the largest work of one operation.
    fn end(
        &mut self,
        name: &str,
        meter: &Meter,
        len: u64,
        outcomes: &[(&str, f64)],
        wrong: u64,
        promised: u64,
    ) {
        const WRONG: &str = "lost, refused or counted too low";
        let mut figures = Figures::default();
        let ends = [("operations", meter.operations() as f64), ("s", meter.seconds())];
        for &(measure, value) in outcomes.iter().chain(&ends).chain(&[(WRONG, wrong as f64)]) {
            figures.add(name, len, measure, "", value);
        }
        self.all_held &= wrong == 0;
        for (keys, did, largest) in meter.all() {
            // A removal looks at its key's own places, which are not counted.
            let most = if did == Did::Remove { 0 } else { promised };
            self.all_held &= largest.places <= most;
            let name = format!("{name}: {keys:?}, {did:?}").to_lowercase();
            for (measure, value) in [
                ("operations", largest.operations as f64),
                ("us, at most", largest.time.as_secs_f64() * 1e6),
                ("places, at most", largest.places as f64),
                ("promised", most as f64),
            ] {
                figures.add(&name, len, measure, "", value);
            }
        }
        let head = ["operations", "s", "doublings", "fpr expected", "bits/key", "unions"];
        let work = ["us, at most", "places, at most", "promised", WRONG];
        print!(
            "{}",
            figures.by_size(
                "Operations, and the largest work of one",
                &[head.as_slice(), &work].concat()
            )
        );
    }
}
