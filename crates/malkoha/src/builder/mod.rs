//! Builds a filter or map from the wanted properties, and reports its cost beforehand.

mod kinds;
mod plan;
#[cfg(feature = "std")]
mod std_kinds;

pub use plan::Plan;

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use crate::error::BuildError;
use crate::filter::{CuckooFilter, Filter, KeysOf};
use crate::geometry::Layout;
use crate::key::{Key, KeyHasher};
use crate::table::source;
use crate::table::traits::Change;

/// Builds the filters and maps of this library from a capacity, a false-positive rate, and options.
/// `F` is the type it builds.
///
/// | option | fixed | growable | shared | growable and shared |
/// | --- | --- | --- | --- | --- |
/// | [`capacity`](Self::capacity) | required | 1 | required | 1 |
/// | [`fpr`](Self::fpr) | required, or `fingerprint_bits` | 0.001 | as fixed | 0.001 |
/// | [`fingerprint_bits`](Self::fingerprint_bits) | instead of `fpr` | | instead of `fpr` | |
/// | [`layout`](Self::layout) | the smallest; in a map buckets of 4 | | words | |
/// | [`growth`](Self::growth) | | see [`capacity`](Self::capacity) | | as growable |
/// | [`value_bits`](Self::value_bits) | of maps, required | of maps, 64 | | |
/// | [`max_kicks`](Self::max_kicks) | 8000 | | 8000 | |
/// | [`expire_after`](Self::expire_after), [`resolution`](Self::resolution) | of sets, see there | | | |
/// | [`seed`](Self::seed), [`random_seed`](Self::random_seed) or [`with_hasher`](Self::with_hasher) | seed 0 | seed 0 | seed 0 | seed 0 |
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

/// The options that were set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    capacity: Option<u64>,
    fpr: Option<f64>,
    fingerprint_bits: Option<u32>,
    layout: Option<Layout>,
    growth: Option<f64>,
    value_bits: Option<u32>,
    max_kicks: Option<u32>,
    ttl: Option<u64>,
    resolution: Option<u64>,
    hasher: KeyHasher,
    /// 0 is as 1.
    threads: usize,
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
        Self { options: Options::default(), builds: PhantomData }
    }
}

impl<F> Builder<F> {
    /// Creates a builder with no options set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of distinct keys that the filter must hold, 1 to 2^36; where keys expire,
    /// those of one more step count too. It need not be a power of two.
    ///
    /// A filter that grows needs none, and grows beyond it. A set of at least 65,536 keys then
    /// keeps its rate up to this capacity only, unless you set [`growth`](Self::growth). Beyond it,
    /// each doubling adds less than the rate. It takes at most 16 bits per key at 0.1 %, not 19 to
    /// 22.
    pub fn capacity(mut self, keys: u64) -> Self {
        self.options.capacity = Some(keys);
        self
    }

    /// Sets the highest false-positive rate with `capacity` keys, above 0 and below 1. In a map, it
    /// is the average number of candidates of an absent key. In a filter that grows, the rate holds
    /// at any size, or up to the given [`capacity`](Self::capacity) or [`growth`](Self::growth). A
    /// rate that would need fingerprints of more than 30 bits holds as long as 30 bits allow.
    pub fn fpr(mut self, rate: f64) -> Self {
        self.options.fpr = Some(rate);
        self
    }

    /// Sets the fingerprint size, 4 to 32 bits, instead of a false-positive rate. The layout is
    /// then the paper's, with buckets of 4, unless you choose another.
    pub fn fingerprint_bits(mut self, bits: u32) -> Self {
        self.options.fingerprint_bits = Some(bits);
        self
    }

    /// Sets the slots per bucket: 1, 2, 4 or 8. Short for the bucketed layout of that size.
    pub fn bucket_size(self, slots: u32) -> Self {
        self.layout(Layout::Bucketed { bucket_size: slots })
    }

    /// Sets how fingerprints lie in memory. By default, the builder takes the smallest layout that
    /// reaches the false-positive rate.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.options.layout = Some(layout);
        self
    }

    /// Sets how many times its capacity the filter will grow to, if you know it: 1 to 10^9, and
    /// less where that would be more than about 5 * 10^13 keys, or 3 * 10^10 of a map. The rate
    /// holds up to that size. Beyond, it rises slowly, and keys take more space: at 1 % and a
    /// growth of 1, 12 bits each at 64 times the stated size, 26 at 1000 times, 117 at 16,000
    /// times. No table has more than about 2 * 10^12 keys.
    ///
    /// `f64::INFINITY` is a growth without end, which is the default of maps, and of sets without a
    /// capacity or with one below 65,536. A rate that holds at any size costs bits. At 0.1 %, a
    /// growth of up to six saves three to five bits per key, one of up to 250 saves one, and one of
    /// 1000 none.
    pub fn growth(mut self, factor: f64) -> Self {
        self.options.growth = Some(factor);
        self
    }

    /// Sets the bits per value of a map: 1 to 64, or at most 0 to 64 for a map that grows.
    pub fn value_bits(mut self, bits: u32) -> Self {
        self.options.value_bits = Some(bits);
        self
    }

    /// Sets how many evictions an insert considers before it gives up, at most 65535. The default
    /// is 8000, which inserts reach only when a filter is full.
    pub fn max_kicks(mut self, kicks: u32) -> Self {
        self.options.max_kicks = Some(kicks);
        self
    }

    /// Sets how long a key is remembered, in any unit. Required for a filter whose keys expire,
    /// such as [`ExpiringCuckooFilter`](crate::ExpiringCuckooFilter). Its capacity is the number of
    /// distinct keys that are seen within this time.
    pub fn expire_after(mut self, ttl: u64) -> Self {
        self.options.ttl = Some(ttl);
        self
    }

    /// Sets how much longer than [`expire_after`](Self::expire_after) a key can stay present, in
    /// the same unit: from 1/255 of that time to all of it. The default is a fifteenth. It costs
    /// memory in two ways. Ages take a bit for each doubling of the number of steps, 4 bits for
    /// fifteen. The filter also keeps the keys of one more step, a fifteenth as many.
    pub fn resolution(mut self, step: u64) -> Self {
        self.options.resolution = Some(step);
        self
    }

    /// Selects XXH3-64 with this seed. The default is seed 0, so equal inputs give equal filters,
    /// and filters that were built separately can be united.
    pub fn seed(self, seed: u64) -> Self {
        self.with_hasher(KeyHasher::new(seed))
    }

    /// Selects SipHash-1-3 with a key that nobody can guess, for keys that strangers choose.
    /// [`KeyHasher`] states its guarantees and its cost. Equal inputs then give different
    /// filters, and only filters with the same [`hasher`](Self::with_hasher) can be united.
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    pub fn random_seed(self) -> Self {
        self.with_hasher(KeyHasher::random())
    }

    /// Selects this hash: another filter's, to unite the two, or one with a key that you keep.
    ///
    /// ```
    /// use malkoha::{CuckooFilter, KeyHasher};
    ///
    /// let builder = CuckooFilter::builder().capacity(100).fpr(0.01);
    /// let mut week = builder.clone().random_seed().build()?;
    /// let monday = builder.with_hasher(week.hasher()).build()?;
    /// assert!(week.union_with(&monday).is_ok());
    ///
    /// let key = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100; // from a source of randomness
    /// let builder = CuckooFilter::builder().with_hasher(KeyHasher::sip13(key));
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    pub fn with_hasher(mut self, hasher: KeyHasher) -> Self {
        self.options.hasher = hasher;
        self
    }

    /// Sets the largest number of threads that [`build_from`](Self::build_from) may use. The
    /// default is 1. The filter does not depend on it. If the system refuses threads, fewer do the
    /// work.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// Returns the hash that the filter will use.
    #[must_use]
    pub fn hasher(&self) -> KeyHasher {
        self.options.hasher
    }
}

/// A type that a [`Builder`] can build.
pub trait Build: Sized {
    /// [`Builder::build`].
    fn build(options: &Options) -> Result<Self, BuildError>;
}

/// A type that can be built as a table of fixed size.
pub trait Planned: Build {
    fn plan(options: &Options) -> Result<Plan, BuildError>;
}

impl<F: Build> Builder<F> {
    /// Builds the filter or map, empty.
    ///
    /// ```
    /// use malkoha::locks::{McsLock, Striped};
    /// use malkoha::{Builder, ConcurrentCuckooFilter, ConcurrentCuckooFilterWith};
    ///
    /// let seen: ConcurrentCuckooFilter = Builder::new().capacity(1_000).fpr(0.01).build()?;
    /// let queued: ConcurrentCuckooFilterWith<Striped<McsLock>> =
    ///     Builder::new().capacity(1_000).fpr(0.01).build()?;
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If no filter of this library fits the options, or the system does not provide the memory.
    /// The message says what to change.
    pub fn build(&self) -> Result<F, BuildError> {
        F::build(&self.options)
    }
}

impl<F: Planned> Builder<F> {
    /// Returns the plan of the filter and its cost. Allocates nothing.
    ///
    /// # Errors
    ///
    /// If no filter of this library fits the options. The message says what to change.
    pub fn plan(&self) -> Result<Plan, BuildError> {
        F::plan(&self.options)
    }
}

impl<T: Change> Builder<Filter<T>>
where
    Filter<T>: Build,
{
    /// Builds a filter of these keys. Its capacity is their number, unless you set one. This is the
    /// fastest way to fill a filter of fixed size: it fills one segment after another in cache.
    ///
    /// Building needs about 9 bytes for each of at most 24,576 keys per segment, or for 262,144
    /// keys if that is more, whatever the number of keys. From three million keys on, this is
    /// less than two thirds of the size of a filter with slots of 12 bits.
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
    /// If no such filter can be built, or the capacity that you set is too small.
    pub fn build_from<K: Key + Sync>(&self, keys: &[K]) -> Result<Filter<T>, BuildError> {
        let mut filter = self.sized_for(keys.len())?;
        filter.insert_on_threads(&KeysOf(keys, self.hasher()), self.options.threads)?;
        Ok(filter)
    }

    /// Does the same as [`build_from`](Self::build_from) for keys that are read once, on one
    /// thread. It takes as much memory if you set a capacity or the iterator knows its length.
    /// Otherwise it takes 8 more bytes per key.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let lines = "koel\nmagpie\ncuckoo".lines();
    /// let filter = CuckooFilter::builder().capacity(10).fpr(0.001).build_from_iter(lines)?;
    /// assert!(filter.contains("koel"));
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`build_from`](Self::build_from). No more keys are read then.
    pub fn build_from_iter<K: Key>(
        &self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Filter<T>, BuildError> {
        let (keys, hasher) = (keys.into_iter(), self.hasher());
        let (least, most) = keys.size_hint();
        let length = (most == Some(least)).then_some(least as u64);
        let hashes = keys.map(|key| key.hash_with(hasher));
        let Some(expected) = self.options.capacity.or(length) else {
            return self.build_from_hashes(&hashes.collect::<Vec<_>>());
        };
        let expected = usize::try_from(expected).unwrap_or(usize::MAX);
        let mut filter = self.sized_for(expected)?;
        if source::insert_stream(&mut filter.table, hashes, expected) {
            Ok(filter)
        } else {
            Err(filter.table.refusal().into())
        }
    }

    /// [`build_from`](Self::build_from) for hashes.
    ///
    /// # Errors
    ///
    /// As [`build_from`](Self::build_from).
    pub fn build_from_hashes(&self, hashes: &[u64]) -> Result<Filter<T>, BuildError> {
        let mut filter = self.sized_for(hashes.len())?;
        filter.insert_hashes_with_threads(hashes, self.options.threads)?;
        Ok(filter)
    }

    /// An empty filter for this many keys, unless a capacity was given.
    fn sized_for(&self, keys: usize) -> Result<Filter<T>, BuildError> {
        let mut sized = self.clone();
        sized.options.capacity.get_or_insert((keys as u64).max(1));
        sized.build()
    }
}
