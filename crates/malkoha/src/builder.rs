//! From what is wanted to a filter or map, with the price said beforehand.

use std::fmt;
use std::marker::PhantomData;

use crate::concurrent::{InParts, Locking, OnePiece, Shared, plan_growing};
use crate::error::BuildError;
use crate::filter::{Content, CuckooFilter, CuckooMap, Filter, Sealed};
use crate::geometry::{Geometry, Layout, MAX_KICKS_LIMIT};
use crate::growable::{Growing, Shape};
use crate::key::{Key, KeyHasher, random_seed};
use crate::params;
use crate::table::Fixed;
use crate::table::traits::Change;
use crate::threads::side_by_side;

/// The seed of a filter that was given none: equal inputs then give equal bytes.
const DEFAULT_SEED: u64 = 0;
/// The rate of a growable filter that was given none.
const DEFAULT_FPR: f64 = 0.001;
/// The growth of a filter that was given a capacity but no growth.
const DEFAULT_GROWTH: f64 = 1024.0;
/// The growth from one key of a filter that was given neither: to 2^29 keys.
const GROWTH_FROM_ONE: f64 = 536_870_912.0;
/// The paper's 500 (section 2.2) are steps of a random walk, each of which waits for memory. The
/// places of a breadth-first search are cheap, and this many fill a table further.
const DEFAULT_MAX_KICKS: u32 = 8_000;
/// The paper's layout, with the bucket size that it recommends.
const PAPER: Layout = Layout::Bucketed { bucket_size: 4 };
/// Expected number of keys in the whole table that short fingerprints may leave without a place.
const OVERFULL_TOLERANCE: f64 = 1e-3;
/// Fewer keys are hashed before a thread has started.
const MIN_KEYS_PER_THREAD: usize = 1 << 16;

/// Builds the filters and maps of this library: a capacity, a false-positive rate, and options.
/// `F` is what it builds.
///
/// | option | fixed | growable | shared | growable and shared |
/// | --- | --- | --- | --- | --- |
/// | [`capacity`](Self::capacity) | required | 1 | required | required |
/// | [`fpr`](Self::fpr) | required, or `fingerprint_bits` | 0.001 | as fixed | 0.001 |
/// | [`fingerprint_bits`](Self::fingerprint_bits) | instead of `fpr` | | instead of `fpr` | |
/// | [`layout`](Self::layout) | the smallest; in a map buckets of 4 | | words | |
/// | [`growth`](Self::growth) | | 1024; to 5 * 10^8 keys without a capacity | | 1024 |
/// | [`value_bits`](Self::value_bits) | of maps, required | of maps, 64 | | |
/// | [`max_kicks`](Self::max_kicks) | 8000 | | 8000 | |
/// | [`seed`](Self::seed) | 0 | 0 | 0 | 0 |
///
/// An option that a kind does not have is an error.
///
/// ```
/// use malkoha::{Builder, CuckooFilter, CuckooMap, GrowableCuckooFilter};
///
/// let builder = CuckooFilter::builder().capacity(1_000_000).fpr(0.001);
/// let plan = builder.plan()?; // costs nothing
/// assert!(plan.fpr <= 0.001);
/// println!("{plan}");
/// let filter = builder.build()?;
///
/// let offsets = CuckooMap::builder().capacity(1_000).fpr(1e-4).value_bits(40).build()?;
/// let growable: GrowableCuckooFilter = Builder::new().fpr(0.001).build()?;
/// # Ok::<(), malkoha::BuildError>(())
/// ```
#[must_use]
pub struct Builder<F = CuckooFilter> {
    options: Options,
    builds: PhantomData<fn() -> F>,
}

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    capacity: Option<u64>,
    fpr: Option<f64>,
    fingerprint_bits: Option<u32>,
    layout: Option<Layout>,
    growth: Option<f64>,
    value_bits: Option<u32>,
    max_kicks: Option<u32>,
    seed: u64,
    threads: usize,
}

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

impl<F> Clone for Builder<F> {
    fn clone(&self) -> Self {
        Self { options: self.options, builds: PhantomData }
    }
}

impl<F> fmt::Debug for Builder<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(f)
    }
}

impl<F> Default for Builder<F> {
    fn default() -> Self {
        let options = Options {
            capacity: None,
            fpr: None,
            fingerprint_bits: None,
            layout: None,
            growth: None,
            value_bits: None,
            max_kicks: None,
            seed: DEFAULT_SEED,
            threads: 1,
        };
        Self { options, builds: PhantomData }
    }
}

impl<F> Builder<F> {
    /// A builder of which nothing is decided yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of distinct keys that the filter must hold, 1 to 2^36; of one that grows, to begin
    /// with. It need not be a power of two.
    pub fn capacity(mut self, keys: u64) -> Self {
        self.options.capacity = Some(keys);
        self
    }

    /// The highest false-positive rate with `capacity` keys in, above 0 and below 1. In a map it is
    /// the number of candidates of a key that is not in. In one that grows, the rate holds until it
    /// has grown to [`growth`](Self::growth) times its capacity.
    pub fn fpr(mut self, rate: f64) -> Self {
        self.options.fpr = Some(rate);
        self
    }

    /// The fingerprint size, 4 to 32 bits, instead of a false-positive rate. The layout is then the
    /// paper's, with buckets of 4, unless another is chosen.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.options.fingerprint_bits = Some(bits);
        self
    }

    /// Slots per bucket: 1, 2, 4 or 8. Short for the bucketed layout of that size.
    pub fn bucket_size(self, slots: u32) -> Self {
        self.layout(Layout::Bucketed { bucket_size: slots })
    }

    /// How fingerprints lie in memory. Without it, the builder takes the smallest that reaches the
    /// false-positive rate.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.options.layout = Some(layout);
        self
    }

    /// How many times its capacity the filter may grow to at its rate: 1 to 10^9, or to about 10^7
    /// from a large capacity, where fingerprints of 30 bits are spent; 65,536 if threads share it,
    /// and less where it would lead to more than about 10^11 keys. Costs a bit per key for the first
    /// doubling, and less for each later one.
    pub fn growth(mut self, factor: f64) -> Self {
        self.options.growth = Some(factor);
        self
    }

    /// Bits of a value of a map: 1 to 64, or 0 to 64 at most of one that grows.
    pub fn value_bits(mut self, bits: u32) -> Self {
        self.options.value_bits = Some(bits);
        self
    }

    /// Evictions that an insert considers before it gives up, at most 65535; 8000 unless told,
    /// which are reached only when a filter is full.
    pub fn max_kicks(mut self, kicks: u32) -> Self {
        self.options.max_kicks = Some(kicks);
        self
    }

    /// The seed of the hash; 0 unless told, so that equal inputs give equal filters.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// A seed that nobody can guess: for keys that an attacker may choose.
    pub fn random_seed(self) -> Self {
        self.seed(random_seed())
    }

    /// The most threads that [`build_from`](Self::build_from) may use; 1 unless told. The filter
    /// does not depend on it, and where the system refuses threads, fewer do.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads.max(1);
        self
    }

    /// The hash that the filter will use.
    #[must_use]
    pub fn hasher(&self) -> KeyHasher {
        KeyHasher::new(self.options.seed)
    }
}

/// What a [`Builder`] can build.
pub trait Build: Sized {
    fn build(options: &Options) -> Result<Self, BuildError>;
}

/// What can be built as a table of fixed size.
pub trait Planned: Build {
    fn plan(options: &Options) -> Result<Plan, BuildError>;
}

impl<F: Build> Builder<F> {
    /// Builds the filter or map, empty.
    ///
    /// ```
    /// use malkoha::locks::{McsLock, Striped};
    /// use malkoha::{Builder, ConcurrentCuckooFilter};
    ///
    /// let seen: ConcurrentCuckooFilter = Builder::new().capacity(1_000).fpr(0.01).build()?;
    /// let queued: ConcurrentCuckooFilter<Striped<McsLock>> =
    ///     Builder::new().capacity(1_000).fpr(0.01).build()?;
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If no filter of this library is like that, or the system does not give the memory; the
    /// message says what to change.
    pub fn build(&self) -> Result<F, BuildError> {
        F::build(&self.options)
    }
}

impl<F: Planned> Builder<F> {
    /// What would be built, and what it would cost. Allocates nothing.
    ///
    /// # Errors
    ///
    /// If no filter of this library is like that; the message says what to change.
    pub fn plan(&self) -> Result<Plan, BuildError> {
        F::plan(&self.options)
    }
}

impl<T: Change> Builder<Filter<T>>
where
    Filter<T>: Build,
{
    /// Builds a filter of these keys, for as many keys as there are unless a capacity was given.
    /// The fastest way to fill a filter of fixed size: segment by segment, each in cache.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let keys: Vec<u64> = (0..100_000).collect();
    /// let filter = CuckooFilter::builder().fpr(0.001).threads(2).build_from(&keys)?;
    /// assert!(filter.contains(99_999_u64));
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If no such filter can be built, or a capacity was given that is too small.
    pub fn build_from<K: Key + Sync>(&self, keys: &[K]) -> Result<Filter<T>, BuildError> {
        let (hasher, threads) = (self.hasher(), self.options.threads);
        let mut hashes = vec![0; keys.len()];
        let per_thread = keys.len().div_ceil(threads).max(MIN_KEYS_PER_THREAD);
        let parts = keys.chunks(per_thread).zip(hashes.chunks_mut(per_thread)).collect();
        side_by_side(parts, |(keys, hashes)| hash_all(hasher, keys, hashes));
        self.build_from_hashes(&hashes)
    }

    /// [`build_from`](Self::build_from) for hashes.
    ///
    /// # Errors
    ///
    /// As [`build_from`](Self::build_from).
    pub fn build_from_hashes(&self, hashes: &[u64]) -> Result<Filter<T>, BuildError> {
        let mut sized = self.clone();
        sized.options.capacity.get_or_insert((hashes.len() as u64).max(1));
        let mut filter = sized.build()?;
        let inserted = filter.insert_hashes_with_threads(hashes, self.options.threads);
        inserted.map_err(|refusal| refusal.error)?;
        Ok(filter)
    }
}

impl Planned for CuckooFilter {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        options.check("filter of fixed size", &[Options::NO_GROWTH, Options::NO_VALUES])?;
        options.plan(0, options.layout)
    }
}

impl Planned for CuckooMap {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        options.check("map of fixed size", &[Options::NO_GROWTH])?;
        let value_bits = options.value_bits.unwrap_or(0);
        if value_bits == 0 {
            return Err(BuildError::ValueBits(value_bits));
        }
        options.plan(value_bits, Some(options.layout.unwrap_or(PAPER)))
    }
}

impl<P: Locking> Planned for Filter<Shared<P, OnePiece>> {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        let kind = "filter of fixed size that threads share";
        options.check(kind, &[Options::NO_GROWTH, Options::NO_VALUES])?;
        match options.layout {
            None | Some(Layout::Words) => options.plan(0, Some(Layout::Words)),
            Some(other) => Err(BuildError::Layout {
                layout: other.name(),
                what: "threads that change it: leave the layout out, or choose words",
            }),
        }
    }
}

impl<C: Content> Build for Filter<Fixed, C>
where
    Self: Planned,
{
    fn build(options: &Options) -> Result<Self, BuildError> {
        let Plan { geometry, max_kicks, capacity, .. } = Self::plan(options)?;
        let table = Fixed::new(geometry, max_kicks, capacity)?;
        Ok(Self::new(table, KeyHasher::new(options.seed)))
    }
}

impl<P: Locking> Build for Filter<Shared<P, OnePiece>> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let Plan { geometry, max_kicks, capacity, .. } = Self::plan(options)?;
        let table = Shared::fixed(geometry, max_kicks, capacity)?;
        Ok(Self::new(table, KeyHasher::new(options.seed)))
    }
}

impl<C: Content> Build for Filter<Growing, C> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let fixed_only = [Options::NO_LAYOUT, Options::NO_BITS, Options::NO_KICKS];
        let value_bits = if <C as Sealed>::IS_MAP {
            options.check("growable map", &fixed_only)?;
            options.value_bits.unwrap_or(u64::BITS)
        } else {
            options.check("growable filter", &fixed_only)?;
            options.check("growable filter", &[Options::NO_VALUES])?;
            0
        };
        let (capacity, fpr, growth) = options.growing();
        let (shape, buckets) = Shape::new(capacity, fpr, growth, value_bits)?;
        let table = Growing::new(shape, buckets, capacity)?;
        Ok(Self::new(table, KeyHasher::new(options.seed)))
    }
}

impl<P: Locking> Build for Filter<Shared<P, InParts>> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let kind = "growable filter that threads share";
        options.check(kind, &[Options::NO_LAYOUT, Options::NO_BITS, Options::NO_KICKS])?;
        options.check(kind, &[Options::NO_VALUES])?;
        // It has no default capacity, since its parts are as large as that makes them for good.
        let capacity = options.capacity.unwrap_or(0);
        let fpr = options.fpr.unwrap_or(DEFAULT_FPR);
        let growth = options.growth.unwrap_or(DEFAULT_GROWTH);
        let (geometry, doublings) = plan_growing(capacity, fpr, growth)?;
        let table = Shared::growing(geometry, doublings, capacity)?;
        Ok(Self::new(table, KeyHasher::new(options.seed)))
    }
}

/// An option that a kind does not have: whether it was given, its name, and what to do instead.
type Missing = (fn(&Options) -> bool, &'static str, &'static str);

impl Options {
    const NO_GROWTH: Missing =
        (|options| options.growth.is_some(), "growth", "build a growable one, or leave it out");
    const NO_VALUES: Missing =
        (|options| options.value_bits.is_some(), "values", "build a map, or leave them out");
    const NO_LAYOUT: Missing =
        (|options| options.layout.is_some(), "choice of layout", "leave it out");
    const NO_BITS: Missing = (
        |options| options.fingerprint_bits.is_some(),
        "choice of fingerprint size",
        "give a false-positive rate instead",
    );
    const NO_KICKS: Missing =
        (|options| options.max_kicks.is_some(), "choice of kicks", "leave it out");

    fn check(&self, kind: &'static str, missing: &[Missing]) -> Result<(), BuildError> {
        match missing.iter().find(|(is_given, ..)| is_given(self)) {
            Some(&(_, option, remedy)) => Err(BuildError::Option { kind, option, remedy }),
            None => Ok(()),
        }
    }

    /// Capacity, rate and growth of a filter that grows.
    fn growing(&self) -> (u64, f64, f64) {
        let growth = self.capacity.map_or(GROWTH_FROM_ONE, |_| DEFAULT_GROWTH);
        let fpr = self.fpr.unwrap_or(DEFAULT_FPR);
        (self.capacity.unwrap_or(1), fpr, self.growth.unwrap_or(growth))
    }

    fn plan(&self, value_bits: u32, layout: Option<Layout>) -> Result<Plan, BuildError> {
        let (capacity, seed) = (self.capacity.unwrap_or(0), self.seed);
        let max_kicks = self.max_kicks.unwrap_or(DEFAULT_MAX_KICKS);
        if max_kicks > MAX_KICKS_LIMIT {
            return Err(BuildError::MaxKicks(max_kicks));
        }
        let geometry = match (self.fpr, self.fingerprint_bits) {
            (Some(fpr), None) => match layout {
                Some(layout) => smallest(capacity, layout, value_bits, fpr)?,
                None => smallest_of_all(capacity, fpr)?,
            },
            (None, Some(bits)) => {
                Geometry::for_capacity(capacity, layout.unwrap_or(PAPER), bits, value_bits)?
            }
            _ => return Err(BuildError::Precision),
        };
        let keys = params::float(capacity);
        let load = keys / params::float(geometry.slots());
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        Ok(Plan {
            capacity,
            geometry,
            max_kicks,
            seed,
            fpr: geometry.fpr_at(load),
            load,
            bytes,
            bits_per_key: params::float(bytes) * 8.0 / keys,
            expected_failures: geometry.expected_failures(capacity),
        })
    }
}

/// The geometry of any layout that meets `fpr` in the fewest bytes.
fn smallest_of_all(capacity: u64, fpr: f64) -> Result<Geometry, BuildError> {
    // On equal size the first wins. Semi-sorted tables are as small as gap windows, but slower.
    let bucketed = |bucket_size| Layout::Bucketed { bucket_size };
    let all = [Layout::GapWindows, bucketed(4), bucketed(2), bucketed(8)];
    let mut choices = all.map(|layout| smallest(capacity, layout, 0, fpr)).into_iter();
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
