//! Very many operations on every kind that grows, far beyond the size that it was built for, and on
//! kinds of fixed size that are full. The results are checked against a model, and the largest work
//! of one operation is reported.

#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers of what is in memory, and remainders"
)]

mod crafted;
mod full;
mod stream;
mod work;

use std::time::Instant;

use anyhow::{Result, ensure};
use malkoha::tables::{Lookup, most_places, most_places_growing};
use malkoha::{
    Builder, ConcurrentCuckooFilter, Content, Copies, CuckooFilter, CuckooMap, Filter,
    GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap, GrowableCuckooFilter,
    GrowableCuckooMap,
};

use crate::args::SoakArgs;
use crate::machine::Machine;
use crate::report::{Grid, Report};
use stream::{CRAFTED, Stream};
use work::{Did, Meter};

const HEAD: [&str; 9] = [
    "kind",
    "operations",
    "keys at the end",
    "doublings since it was built",
    "fpr expected",
    "bits/key",
    "unions",
    "lost, refused or counted too low",
    "s",
];
const WORK: [&str; 7] =
    ["kind", "keys", "", "operations", "places, at most", "promised", "us, at most"];

/// The kinds that are run, as the table names them.
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

/// The operations of a kind, by hashes. `unite` returns whether the kind can.
struct Kind<F> {
    insert: fn(&mut F, u64) -> bool,
    remove: fn(&mut F, u64) -> bool,
    unite: fn(&mut F, &[u64]) -> Result<bool>,
    shrink: fn(&mut F),
}

/// The value of a key.
const fn value(hash: u64) -> u64 {
    hash >> (64 - VALUE_BITS)
}

struct Soak<'a> {
    args: &'a SoakArgs,
    outcomes: Grid,
    work: Grid,
    all_held: bool,
}

/// Runs all kinds.
///
/// # Errors
///
/// If a key was lost, counted too low, or refused by a kind that grows, or an operation looked at
/// more places than is promised.
pub fn report(args: &SoakArgs) -> Result<()> {
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    let outcomes = Grid::new("Many operations, far beyond the size foreseen", HEAD);
    let work = Grid::new("The largest work of one operation", WORK);
    let mut soak = Soak { args, outcomes, work, all_held: true };
    soak.one_owner()?;
    soak.shared()?;
    soak.full()?;
    print!("{}{}", soak.outcomes, soak.work);
    ensure!(soak.all_held, "see the last columns");
    Ok(())
}

impl Soak<'_> {
    fn one_owner(&mut self) -> Result<()> {
        let crafted = |operations: u64| crafted::for_growing((operations / CRAFTED) as usize);
        let mut set: GrowableCuckooFilter =
            Builder::new().capacity(CAPACITY).fpr(0.5).growth(1.0).build()?;
        let kind = Kind {
            insert: |set: &mut GrowableCuckooFilter, hash| set.insert_hash(hash).is_ok(),
            remove: |set, hash| set.remove_hash(hash),
            unite: |set, hashes| {
                let mut other = GrowableCuckooFilter::with_capacity(10, 0.01)?;
                other.insert_hashes(hashes)?;
                set.unite(&other, Copies::Sum)?;
                Ok(true)
            },
            shrink: GrowableCuckooFilter::shrink_to_fit,
        };
        self.grow("one owner, set", &mut set, kind, crafted, most_places_growing())?;
        drop(set);
        let builder = GrowableCuckooMap::builder().capacity(CAPACITY).fpr(0.01);
        let mut map: GrowableCuckooMap = builder.value_bits(VALUE_BITS).build()?;
        let kind = Kind {
            insert: |map: &mut GrowableCuckooMap, hash| map.insert_hash(hash, value(hash)).is_ok(),
            remove: |map, hash| map.remove_hash(hash, value(hash)),
            unite: |map, hashes| {
                let mut other = GrowableCuckooMap::with_capacity(10, 0.01, VALUE_BITS)?;
                let pairs: Vec<_> = hashes.iter().map(|&hash| (hash, value(hash))).collect();
                other.insert_hashes(&pairs)?;
                map.unite(&other, Copies::Sum)?;
                Ok(true)
            },
            shrink: GrowableCuckooMap::shrink_to_fit,
        };
        self.grow("one owner, map", &mut map, kind, crafted, most_places_growing())
    }

    fn shared(&mut self) -> Result<()> {
        let mut set: GrowableConcurrentCuckooFilter =
            Builder::new().capacity(CAPACITY).fpr(0.01).build()?;
        let kind = Kind {
            insert: |set: &mut GrowableConcurrentCuckooFilter, hash| set.insert_hash(hash).is_ok(),
            remove: |set, hash| set.remove_hash(hash),
            unite: |_, _| Ok(false),
            shrink: |set| set.shrink_to_fit(),
        };
        let crafted = |operations: u64| crafted::for_growing((operations / CRAFTED) as usize);
        self.grow("shared, set", &mut set, kind, crafted, most_places_growing())?;
        drop(set);
        let mut map = GrowableConcurrentCuckooMap::with_capacity(CAPACITY, 0.01, VALUE_BITS)?;
        let kind = Kind {
            insert: |map: &mut GrowableConcurrentCuckooMap, hash| {
                map.insert_hash(hash, value(hash)).is_ok()
            },
            remove: |map, hash| map.remove_hash(hash, value(hash)),
            unite: |_, _| Ok(false),
            shrink: |map| map.shrink_to_fit(),
        };
        let crafted = |operations: u64| crafted::for_shards((operations / CRAFTED) as usize);
        self.grow("shared, map", &mut map, kind, crafted, most_places_growing())
    }

    fn full(&mut self) -> Result<()> {
        let mut set =
            CuckooFilter::builder().capacity(full::CAPACITY).fpr(0.01).bucket_size(4).build()?;
        let kind = Kind {
            insert: |set: &mut CuckooFilter, hash| set.insert_hash(hash).is_ok(),
            remove: |set, hash| set.remove_hash(hash),
            unite: |_, _| Ok(false),
            shrink: |_| {},
        };
        let (geometry, kicks) = (*set.geometry(), set.max_kicks());
        self.fill("fixed, set", &mut set, &geometry, &kind, kicks);
        let mut map = CuckooMap::with_capacity(full::CAPACITY, 0.01, VALUE_BITS)?;
        let kind = Kind {
            insert: |map: &mut CuckooMap, hash| map.insert_hash(hash, value(hash)).is_ok(),
            remove: |map, hash| map.remove_hash(hash, value(hash)),
            unite: |_, _| Ok(false),
            shrink: |_| {},
        };
        let (geometry, kicks) = (*map.geometry(), map.max_kicks());
        self.fill("fixed, map", &mut map, &geometry, &kind, kicks);
        let mut shared = ConcurrentCuckooFilter::with_capacity(full::CAPACITY, 0.01)?;
        let kind = Kind {
            insert: |set: &mut ConcurrentCuckooFilter, hash| set.insert_hash(hash).is_ok(),
            remove: |set, hash| set.remove_hash(hash),
            unite: |_, _| Ok(false),
            shrink: |_| {},
        };
        let geometry = *shared.geometry();
        self.fill("fixed, shared set", &mut shared, &geometry, &kind, kicks);
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
        crafted: impl Fn(u64) -> Vec<u64>,
        promised: u64,
    ) -> Result<()> {
        if !self.is_asked(name) {
            return Ok(());
        }
        let (start, operations) = (Instant::now(), self.args.operations);
        let mut stream = Stream::new(filter, kind, crafted(operations), self.args.seed);
        let (mut next_check, mut next_union, mut unions) = (1 << 16, operations / UNIONS, 0_u64);
        stream.meter.resume();
        while stream.meter.operations() < operations {
            stream.step();
            if stream.meter.operations() >= next_union {
                next_union += operations / UNIONS;
                unions += u64::from(stream.unite()?);
            }
            if stream.meter.operations() >= next_check {
                stream.check();
                next_check *= 2;
            }
        }
        stream.check();
        let (len, fpr) = (stream.filter.len(), stream.filter.expected_fpr());
        let (size, capacity) = (stream.filter.bits_per_key(), stream.filter.capacity());
        stream.shrink();
        stream.check();
        let (wrong, meter) = (stream.wrong, stream.meter);
        let row = [
            format!("{:.1}", (len as f64 / capacity as f64).log2()),
            format!("{fpr:.6}"),
            format!("{size:.2}"),
            unions.to_string(),
        ];
        self.add(name, &meter, len, row, wrong, start);
        self.add_work(name, &meter, promised);
        Ok(())
    }

    fn fill<T: Lookup, C: Content>(
        &mut self,
        name: &str,
        filter: &mut Filter<T, C>,
        geometry: &malkoha::Geometry,
        kind: &Kind<Filter<T, C>>,
        kicks: u32,
    ) {
        if !self.is_asked(name) {
            return;
        }
        let (start, mut meter) = (Instant::now(), Meter::new());
        let limits = (self.args.operations, self.args.seed);
        let wrong = full::run(limits, filter, geometry, kind, &mut meter);
        let row =
            [String::new(), format!("{:.6}", filter.expected_fpr()), String::new(), String::new()];
        self.add(name, &meter, filter.len(), row, wrong, start);
        self.add_work(name, &meter, most_places(kicks));
    }

    fn add(
        &mut self,
        name: &str,
        meter: &Meter,
        len: u64,
        [doublings, fpr, size, unions]: [String; 4],
        wrong: u64,
        start: Instant,
    ) {
        let row = [
            name.to_owned(),
            meter.operations().to_string(),
            len.to_string(),
            doublings,
            fpr,
            size,
            unions,
            wrong.to_string(),
            format!("{:.0}", start.elapsed().as_secs_f64()),
        ];
        println!("{}", row.join(", "));
        self.all_held &= wrong == 0;
        self.outcomes.row(row);
    }

    fn add_work(&mut self, name: &str, meter: &Meter, promised: u64) {
        for (keys, did, of, largest) in meter.all() {
            // A removal looks at its key's own places, which are not counted.
            let most = if did == Did::Remove { 0 } else { promised };
            self.all_held &= largest.places <= most;
            let row = [
                name.to_owned(),
                keys.to_owned(),
                of.to_owned(),
                largest.operations.to_string(),
                largest.places.to_string(),
                most.to_string(),
                format!("{:.1}", largest.time.as_secs_f64() * 1e6),
            ];
            println!("  {}", row[1..].join(", "));
            self.work.row(row);
        }
    }
}
