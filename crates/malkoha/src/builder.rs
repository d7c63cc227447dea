//! Choosing a filter: from what is wanted to a geometry, with the price said beforehand.

use std::fmt;

use crate::concurrent::ConcurrentCuckooFilter;
use crate::error::{BuildError, FromIterError};
use crate::filter::CuckooFilter;
use crate::geometry::{Geometry, Layout, MAX_KICKS_LIMIT};
use crate::key::{Key, KeyHasher, random_seed};
use crate::locks::Locking;
use crate::map::CuckooMap;
use crate::params;
use crate::threads::side_by_side;

/// The seed of a filter that was given none: equal inputs then give equal bytes.
pub(crate) const DEFAULT_SEED: u64 = 0;
/// The paper's 500 (section 2.2) are steps of a random walk, each of which waits for memory. The
/// places of a breadth-first search are cheap, and this many fill a table further.
const DEFAULT_MAX_KICKS: u32 = 8_000;
/// The paper's layout, with the bucket size that it recommends.
const PAPER: Layout = Layout::Bucketed { bucket_size: 4 };
/// Expected number of keys in the whole table that short fingerprints may leave without a place.
const OVERFULL_TOLERANCE: f64 = 1e-3;

/// Builds a [`CuckooFilter`] or a [`CuckooMap`]: a capacity, and either a false-positive rate or a geometry.
///
/// ```
/// use malkoha::CuckooFilter;
///
/// let builder = CuckooFilter::builder().capacity(1_000_000).fpr(0.001);
/// let plan = builder.plan()?; // costs nothing
/// assert!(plan.fpr <= 0.001);
/// println!("{plan}");
/// let filter = builder.build()?;
/// # Ok::<(), malkoha::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    capacity: u64,
    fpr: Option<f64>,
    fingerprint_bits: Option<u32>,
    layout: Option<Layout>,
    max_kicks: u32,
    seed: u64,
    threads: usize,
}

/// Fewer keys are hashed before a thread has started.
const MIN_KEYS_A_THREAD: usize = 1 << 16;

/// What a builder chose, and what it will cost when the filter holds its capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// Keys the filter is for.
    pub capacity: u64,
    /// The shape of the table.
    pub geometry: Geometry,
    /// Evictions that an insert considers before it gives up.
    pub max_kicks: u32,
    /// Seed of the hash.
    pub seed: u64,
    /// False-positive rate with `capacity` keys in (paper, eq. 5).
    pub fpr: f64,
    /// Share of the slots that `capacity` keys occupy.
    pub load: f64,
    /// Bytes of the table.
    pub bytes: u64,
    /// Bits of the table for each of `capacity` keys (paper, eq. 4).
    pub bits_per_key: f64,
    /// Expected number of keys without a place because their fingerprints are too short
    /// (paper, eq. 3). Well below 1 in every geometry chosen from a false-positive rate.
    pub expected_failures: f64,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            capacity: 0,
            fpr: None,
            fingerprint_bits: None,
            layout: None,
            max_kicks: DEFAULT_MAX_KICKS,
            seed: DEFAULT_SEED,
            threads: 1,
        }
    }
}

impl Builder {
    /// A builder of which nothing is decided yet; the same as [`CuckooFilter::builder`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of keys the filter must hold, 1 to 2^36. It need not be a power of two.
    pub fn capacity(mut self, keys: u64) -> Self {
        self.capacity = keys;
        self
    }

    /// The highest false-positive rate with `capacity` keys in, above 0 and below 1.
    pub fn fpr(mut self, rate: f64) -> Self {
        self.fpr = Some(rate);
        self
    }

    /// The fingerprint size, 4 to 32 bits, instead of a false-positive rate. The layout is then the
    /// paper's, with buckets of 4, unless another is chosen.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.fingerprint_bits = Some(bits);
        self
    }

    /// Slots a bucket: 1, 2, 4 or 8. Short for the bucketed layout of that size.
    pub fn bucket_size(self, slots: u32) -> Self {
        self.layout(Layout::Bucketed { bucket_size: slots })
    }

    /// How fingerprints lie in memory. Without it, the builder takes the smallest that reaches the
    /// false-positive rate.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = Some(layout);
        self
    }

    /// Evictions that an insert considers before it gives up, at most 65535; 8000 unless told,
    /// which takes some 50 microseconds and is reached only when a filter is full.
    pub fn max_kicks(mut self, kicks: u32) -> Self {
        self.max_kicks = kicks;
        self
    }

    /// The seed of the hash; 0 unless told, so that equal inputs give equal filters.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A seed that nobody can guess: for keys that an attacker may choose.
    pub fn random_seed(self) -> Self {
        self.seed(random_seed())
    }

    /// The most threads that [`build_from`](Self::build_from) may use; 1 unless told. The filter
    /// does not depend on it, and where the system refuses threads, fewer do.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// What would be built, and what it would cost. Allocates nothing.
    ///
    /// # Errors
    ///
    /// If no filter of this library is like that; the message says what to change.
    pub fn plan(&self) -> Result<Plan, BuildError> {
        self.plan_for(0, self.layout)
    }

    /// What a map for values of `value_bits` bits, 1 to 64, would be. Its layout is bucketed, with
    /// buckets of 4 unless another size is chosen; the rate is the number of candidates of a key
    /// that is not in.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn plan_map(&self, value_bits: u32) -> Result<Plan, BuildError> {
        if value_bits == 0 {
            return Err(BuildError::ValueBits(value_bits));
        }
        self.plan_for(value_bits, Some(self.layout.unwrap_or(PAPER)))
    }

    fn plan_for(&self, value_bits: u32, layout: Option<Layout>) -> Result<Plan, BuildError> {
        if self.max_kicks > MAX_KICKS_LIMIT {
            return Err(BuildError::MaxKicks(self.max_kicks));
        }
        let geometry = match (self.fpr, self.fingerprint_bits) {
            (Some(fpr), None) => match layout {
                Some(layout) => smallest(self.capacity, layout, value_bits, fpr)?,
                None => self.smallest_for(fpr)?,
            },
            (None, Some(bits)) => {
                Geometry::for_capacity(self.capacity, layout.unwrap_or(PAPER), bits, value_bits)?
            }
            _ => return Err(BuildError::Precision),
        };
        Ok(self.priced(geometry))
    }

    /// Builds the filter, empty.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan), and if the system does not give the memory.
    pub fn build(&self) -> Result<CuckooFilter, BuildError> {
        CuckooFilter::from_plan(&self.plan()?)
    }

    /// What a filter for many threads would be: with one word a bucket.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan), and if another layout than [`Layout::Words`] was chosen.
    pub fn plan_concurrent(&self) -> Result<Plan, BuildError> {
        match self.layout {
            None | Some(Layout::Words) => self.plan_for(0, Some(Layout::Words)),
            Some(other) => Err(BuildError::Layout {
                layout: other.name(),
                what: "threads that change it: leave the layout out, or choose words",
            }),
        }
    }

    /// Builds a filter for many threads, empty, with the locks that `P` says.
    ///
    /// ```
    /// use malkoha::ConcurrentCuckooFilter;
    /// use malkoha::locks::{McsLock, Striped};
    ///
    /// let builder = ConcurrentCuckooFilter::builder().capacity(1_000).fpr(0.01);
    /// let seen: ConcurrentCuckooFilter = builder.build_concurrent()?;
    /// let queued: ConcurrentCuckooFilter<Striped<McsLock>> = builder.build_concurrent()?;
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`plan_concurrent`](Self::plan_concurrent), and if the system does not give the memory.
    pub fn build_concurrent<P: Locking>(&self) -> Result<ConcurrentCuckooFilter<P>, BuildError> {
        ConcurrentCuckooFilter::from_plan(&self.plan_concurrent()?)
    }

    /// Builds a map for values of `value_bits` bits, 1 to 64, empty.
    ///
    /// ```
    /// use malkoha::CuckooMap;
    ///
    /// let mut offsets = CuckooMap::builder().capacity(1_000).fpr(1e-4).seed(7).build_map(40)?;
    /// offsets.insert_many(&[("cuckoo", 0), ("magpie", 1 << 39)])?;
    /// assert!(offsets.get("magpie").any(|offset| offset == 1 << 39));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`plan_map`](Self::plan_map), and if the system does not give the memory.
    pub fn build_map(&self, value_bits: u32) -> Result<CuckooMap, BuildError> {
        CuckooMap::from_plan(&self.plan_map(value_bits)?)
    }

    /// Builds a filter of these keys, for as many keys as there are unless a capacity was given.
    /// The fastest way to fill a filter: segment by segment, each in cache.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let keys: Vec<u64> = (0..100_000).collect();
    /// let filter = CuckooFilter::builder().fpr(0.001).threads(2).build_from(&keys)?;
    /// assert!(filter.contains(&99_999_u64));
    /// # Ok::<(), malkoha::FromIterError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If no such filter can be built, or a capacity was given that is too small.
    pub fn build_from<K: Key + Sync>(&self, keys: &[K]) -> Result<CuckooFilter, FromIterError> {
        let hasher = KeyHasher::new(self.seed);
        let mut hashes = vec![0; keys.len()];
        let a_thread = keys.len().div_ceil(self.threads).max(MIN_KEYS_A_THREAD);
        let parts = keys.chunks(a_thread).zip(hashes.chunks_mut(a_thread)).collect();
        side_by_side(parts, |(keys, hashes)| hash_all(hasher, keys, hashes));
        self.build_from_hashes(&hashes)
    }

    /// [`build_from`](Self::build_from) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`build_from`](Self::build_from).
    pub fn build_from_hashes(&self, hashes: &[u64]) -> Result<CuckooFilter, FromIterError> {
        let mut sized = self.clone();
        if sized.capacity == 0 {
            sized.capacity = (hashes.len() as u64).max(1);
        }
        let mut filter = sized.build()?;
        let inserted = filter.insert_hashes_with_threads(hashes, self.threads);
        inserted.map_err(|refusal| refusal.full)?;
        Ok(filter)
    }

    /// The geometry of any layout that meets `fpr` in the fewest bytes.
    fn smallest_for(&self, fpr: f64) -> Result<Geometry, BuildError> {
        // On equal size the first wins. Semi-sorted tables are as small as gap windows, but slower.
        let bucketed = |bucket_size| Layout::Bucketed { bucket_size };
        let all = [Layout::GapWindows, bucketed(4), bucketed(2), bucketed(8)];
        let mut choices = all.map(|layout| smallest(self.capacity, layout, 0, fpr)).into_iter();
        let first = choices.next().expect("several layouts");
        // A layout that cannot reach the rate does not stop another that can.
        choices.fold(first, |least, choice| match (&least, &choice) {
            (Ok(a), Ok(b)) if b.table_bytes() < a.table_bytes() => choice,
            (Err(_), Ok(_)) => choice,
            (
                Err(BuildError::FprTooSmall { reachable: a, .. }),
                Err(BuildError::FprTooSmall { reachable: b, .. }),
            ) if b < a => choice,
            _ => least,
        })
    }

    fn priced(&self, geometry: Geometry) -> Plan {
        let capacity = params::float(self.capacity);
        let load = capacity / params::float(geometry.slots());
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        Plan {
            capacity: self.capacity,
            geometry,
            max_kicks: self.max_kicks,
            seed: self.seed,
            fpr: geometry.fpr_at(load),
            load,
            bytes,
            bits_per_key: params::float(bytes) * 8.0 / capacity,
            expected_failures: geometry.expected_failures(self.capacity),
        }
    }
}

fn hash_all<K: Key>(hasher: KeyHasher, keys: &[K], hashes: &mut [u64]) {
    for (hash, key) in hashes.iter_mut().zip(keys) {
        *hash = key.hash_with(hasher);
    }
}

/// The smallest geometry of `layout` that meets `fpr`. Not always that with the shortest
/// fingerprints: very short ones need much emptier tables.
fn smallest(
    capacity: u64,
    layout: Layout,
    value_bits: u32,
    fpr: f64,
) -> Result<Geometry, BuildError> {
    // Written so that a NaN is refused too.
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(BuildError::Fpr(fpr));
    }
    let (mut smallest, mut reachable) = (None::<Geometry>, f64::INFINITY);
    for bits in layout.least_fingerprint_bits()..=32 {
        let geometry = Geometry::for_capacity(capacity, layout, bits, value_bits)?;
        let load = params::float(capacity) / params::float(geometry.slots());
        if geometry.expected_failures(capacity) >= OVERFULL_TOLERANCE {
            continue;
        }
        let rate = geometry.fpr_at(load);
        reachable = reachable.min(rate);
        if rate <= fpr && smallest.is_none_or(|least| geometry.table_bytes() < least.table_bytes())
        {
            smallest = Some(geometry);
        }
    }
    smallest.ok_or(BuildError::FprTooSmall { asked: fpr, reachable })
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capacity, geometry, bits_per_key, load, fpr, bytes, .. } = self;
        write!(
            f,
            "{capacity} keys in {bytes} bytes: {bits_per_key:.2} bits a key, \
             fpr {fpr:.3e} at load {load:.3} ({}, {}-bit fingerprints)",
            geometry.layout, geometry.fingerprint_bits
        )
    }
}
