//! The kinds of filters, by name.

use super::{Filter, Values};
use crate::expiry::Expiring;
#[cfg(feature = "mmap")]
use crate::format::mapped::MappedFile;
use crate::table::{Fixed, Memory};
#[cfg(feature = "std")]
use crate::{
    concurrent::Shared, growable::Growing, locks::ParkingLock, locks::Striped,
    partitioned::Partitioned,
};

/// A set of fixed size.
///
/// An insert into a full filter returns an error. An insert touches two places. If both are full,
/// it looks for the shortest chain of moves that makes room, among at most
/// [`max_kicks`](CuckooFilter::max_kicks) other places. In all, it looks at no more than
/// [`most_places`](crate::tables::most_places). After a segment has refused a key, its inserts look
/// at [few places](crate::tables::most_places_after_refusal) until enough keys were removed, so
/// further refusals cost little.
///
/// `B` holds the bytes of the table: [`Memory`] in a filter that was built or read, which can
/// change; a byte slice ([`FilterView`]) or a mapped file (`MappedFilter`), which allow only
/// lookups.
///
/// ```
/// use malkoha::CuckooFilter;
///
/// let mut seen = CuckooFilter::with_capacity(1_000_000, 0.001)?;
/// seen.insert("cuckoo")?;
/// assert!(seen.contains("cuckoo"));
/// assert!(!seen.contains("magpie"));
/// assert!(seen.remove("cuckoo"));
/// assert!(seen.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type CuckooFilter<B = Memory> = Filter<Fixed<B>>;

/// A map of fixed size, from keys to small values. It keeps neither keys nor pointers:
/// [`get`](CuckooMap::get) returns candidates.
///
/// An inserted key has `1 + fpr` candidates on average, its value among them. Any other key has
/// `fpr`. If the value is the position of a record, the record confirms the candidate, and the
/// result is exact (paper, section 6, "associating values").
///
/// # Several values per key
///
/// A key can have any number of values, equal ones too. The table holds as many as fit into its
/// eight slots, equal ones at most twice. Further values go to an ordered list outside the table,
/// which takes about 45 bytes for each different one.
///
/// ```
/// use malkoha::CuckooMap;
///
/// let mut ages = CuckooMap::with_capacity(1_000, 0.001, 7)?;
/// ages.insert("koel", 12)?;
/// assert!(ages.get("koel").any(|age| age == 12));
/// assert!(ages.update("koel", 12, 13)?);
/// assert!(ages.remove("koel", 13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type CuckooMap<B = Memory> = Filter<Fixed<B>, Values>;

/// A set in borrowed bytes, with lookups that copy nothing. Made by [`FilterView::view`].
pub type FilterView<'a> = CuckooFilter<&'a [u8]>;

/// A map in borrowed bytes, with lookups that copy nothing. Made by [`MapView::view`].
pub type MapView<'a> = CuckooMap<&'a [u8]>;

/// A set in a file. Lookups read the file's pages and copy nothing. Made by [`MappedFilter::map`].
#[cfg(feature = "mmap")]
pub type MappedFilter = CuckooFilter<MappedFile>;

/// A map in a file. Lookups read the file's pages and copy nothing. Made by [`MappedMap::map`].
#[cfg(feature = "mmap")]
pub type MappedMap = CuckooMap<MappedFile>;

/// A set that grows with its keys, and never needs them again.
///
/// It starts at any capacity, exactly as large as that needs. A full segment gets a tenth more
/// buckets (a thirty-second with fingerprints of less than 16 bits, a small segment a fifth), and
/// is split in two when it has 2^15 slots. All this happens without the keys, without a second
/// table and without a chain of filters. The load stays above 0.79, unless the set grows far beyond
/// a given [growth](crate::Builder::growth). The longest insert rebuilds one segment.
///
/// # The cost of growth
///
/// Without a capacity, or with one below 65,536, the requested rate holds at any size. A key loses
/// a bit with each split, and each depth of splits adds to the rate. To compensate, fingerprints
/// have two or three more bits, and one more for every four splits from about the twelfth on.
///
/// A larger capacity saves these bits: the rate holds up to it, or up to the
/// [`growth`](crate::Builder::growth) that you set. Beyond it, each doubling adds less than the
/// rate, and [`expected_fpr`](Self::expected_fpr) reports the sum.
///
/// # Inserts never fail
///
/// As long as there is memory, no number and no choice of keys makes an insert fail. A fingerprint
/// without a bit left for a split goes into both halves. Keys that fit nowhere, because somebody
/// chose them to have the same few places, are *stashed* in an ordered list outside the table,
/// which takes about 45 bytes for each; [`spilled`](Self::spilled) counts them.
///
/// An insert looks at up to 500 places, and rebuilds one segment of at most 2^15 slots, with its
/// part of the list, at most three times. A removal touches two places, and the list if keys of the
/// segment are in it: O(log n).
///
/// ```
/// use malkoha::GrowableCuckooFilter;
///
/// let mut seen = GrowableCuckooFilter::with_capacity(100, 0.001)?;
/// for key in 0..100_000_u64 {
///     seen.insert(key)?;
/// }
/// assert!((0..100_000_u64).all(|key| seen.contains(key)));
/// assert!(seen.expected_fpr() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "std")]
pub type GrowableCuckooFilter = Filter<Growing>;

/// A map that grows with its keys: [`CuckooMap`] over the segments of [`GrowableCuckooFilter`].
///
/// Values take only as many bits as the largest one in their segment needs: a map for values of 64
/// bits that are all below 2^28 takes 28 for each. A larger one widens its segment.
///
/// The longest insert rebuilds one segment of at most 2^15 slots, and moves their values.
///
/// Inserts never fail for lack of room, as in [`GrowableCuckooFilter`]. A map that was built
/// without a [`growth`](crate::Builder::growth) grows to 65,536 times its capacity, and to at least
/// 10^9 keys, before the bits of its oldest keys are used up. A segment with such keys is not split
/// any more. Values without room are stashed, and take about 45 bytes each.
///
/// # Several values per key
///
/// A key can have any number of values, equal ones too. Two lie in the table, further ones in an
/// ordered list outside it, which takes about 40 bytes for each: fine for a few such keys, not for
/// all. When a segment splits, its part of the list is moved one by one: a million values of one
/// key can take a second, a few times while the map grows.
///
/// ```
/// use malkoha::GrowableCuckooMap;
///
/// let mut ages = GrowableCuckooMap::with_capacity(10, 0.001, 7)?;
/// for person in 0..10_000_u32 {
///     ages.insert(person, u64::from(person % 100))?;
/// }
/// assert!(ages.get(42_u32).any(|age| age == 42));
/// assert!(ages.update(42_u32, 42, 43)?);
/// assert!(ages.remove(42_u32, 43));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "std")]
pub type GrowableCuckooMap = Filter<Growing, Values>;

/// A set of fixed size that any number of threads read and change at the same time, through shared
/// references.
///
/// * **Lookups take no lock and wait for nobody.** A lookup repeats its two loads if a key of its
///   stripe (one of 512) was moved or removed in between.
/// * **A key that is in throughout is always found**, also while other keys' inserts move it.
/// * Inserts take an empty lane by one compare-and-swap. Those that have to move others, removals
///   and [`count`](Self::count) lock one stripe at a time.
///
/// A key is in for all threads that know, by whatever way, that its insert has returned.
///
/// A bucket is one 64-bit word, [`Layout::Words`](crate::Layout::Words), which costs 12.8 bits for
/// a slot of 12: about 5 % more than the smallest layout of [`CuckooFilter`].
///
/// It has a lock per stripe that lets threads sleep; [`ConcurrentCuckooFilterWith`] has others.
///
/// ```
/// use malkoha::ConcurrentCuckooFilter;
///
/// let seen = ConcurrentCuckooFilter::with_capacity(100_000, 0.01)?;
/// std::thread::scope(|scope| {
///     for worker in 0..4_u64 {
///         let seen = &seen;
///         scope.spawn(move || (0..25_000).try_for_each(|i| seen.insert(worker * 25_000 + i)));
///     }
/// });
/// assert_eq!(seen.len(), 100_000);
/// assert!(seen.contains(99_999_u64));
/// # Ok::<(), malkoha::BuildError>(())
/// ```
#[cfg(feature = "std")]
pub type ConcurrentCuckooFilter = ConcurrentCuckooFilterWith<Striped<ParkingLock>>;

/// [`ConcurrentCuckooFilter`] with the [locks](crate::locks) that `P` names.
#[cfg(feature = "std")]
pub type ConcurrentCuckooFilterWith<P> = Filter<Shared<P>>;

/// A set that any number of threads share, and that grows: the segments of a
/// [`GrowableCuckooFilter`], in up to 64 partitions. Each partition has a lock that lets readers in
/// together. The set takes the memory of that filter and keeps to the same rate at any size.
///
/// A small filter is one partition. When the first segment of a partition splits, each half becomes
/// a partition, so from some 1.6 million keys on there are 64. Lookups wait only for a change to
/// their partition. An insert that rebuilds a segment, of at most 2^15 slots, takes less than a
/// millisecond. On Linux, lookups of single keys take no lock in a partition that was not changed
/// lately. Batches take each lock once for every 16,384 keys.
///
/// Its files are those of a [`GrowableCuckooFilter`], and open as either.
/// [`to_filter`](Self::to_filter) and [`into_concurrent`](GrowableCuckooFilter::into_concurrent)
/// turn one into the other. No number and no choice of keys makes an insert fail while there is
/// memory.
///
/// ```
/// use malkoha::GrowableConcurrentCuckooFilter;
///
/// let seen = GrowableConcurrentCuckooFilter::with_capacity(1_000, 0.01)?;
/// std::thread::scope(|scope| {
///     for worker in 0..4_u64 {
///         let seen = &seen;
///         scope.spawn(move || (0..25_000).try_for_each(|i| seen.insert(worker * 25_000 + i)));
///     }
/// });
/// assert_eq!(seen.len(), 100_000);
/// assert!(seen.contains(99_999_u64) && seen.expected_fpr() < 0.01);
/// # Ok::<(), malkoha::BuildError>(())
/// ```
#[cfg(feature = "std")]
pub type GrowableConcurrentCuckooFilter = Filter<Partitioned>;

/// A map that any number of threads share, and that grows: the segments of a [`GrowableCuckooMap`],
/// shared as those of a [`GrowableConcurrentCuckooFilter`]. It takes the memory of that map and has
/// its files. [`to_map`](Self::to_map) and [`into_concurrent`](GrowableCuckooMap::into_concurrent)
/// turn one into the other.
///
/// ```
/// use malkoha::GrowableConcurrentCuckooMap;
///
/// let ages = GrowableConcurrentCuckooMap::with_capacity(10, 0.001, 7)?;
/// std::thread::scope(|scope| {
///     for worker in 0..4_u64 {
///         let ages = &ages;
///         let mut keys = worker * 25_000..(worker + 1) * 25_000;
///         scope.spawn(move || keys.try_for_each(|key| ages.insert(key, key % 100)));
///     }
/// });
/// assert!(ages.len() == 100_000 && ages.update(99_999_u64, 99, 7)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "std")]
pub type GrowableConcurrentCuckooMap = Filter<Partitioned, Values>;

/// A set of fixed size whose keys expire, such as the keys of the last hour, day or month.
///
/// Time is a number that you [set](ExpiringCuckooFilter::advance), in any unit. It never goes back.
/// An inserted key is always found for [`expire_after`](crate::Builder::expire_after). After that
/// time and one step of [`resolution`](crate::Builder::resolution) it is found only like any key
/// that was never inserted. In between, either answer is possible.
///
/// The slots of expired keys are free at once. Nothing sweeps the whole table at a time. Each
/// insert or removal sweeps only the few blocks of 256 slots that it writes into, unless this was
/// done in the present step. So the work of an operation is bounded, however far time has moved.
///
/// With the default of fifteen steps, a key takes a fingerprint and 4 bits of age, and the table
/// has room for a fifteenth more keys than its capacity. Equal keys take one slot.
///
/// ```
/// use malkoha::ExpiringCuckooFilter;
///
/// let mut seen = ExpiringCuckooFilter::builder()
///     .capacity(1_000_000) // distinct keys within an hour
///     .fpr(0.001)
///     .expire_after(3_600)
///     .resolution(60)
///     .build()?;
/// seen.advance(10_000);
/// assert!(seen.insert_unique("cuckoo")?); // new
/// seen.advance(13_600);
/// assert!(!seen.insert_unique("cuckoo")?);
/// seen.advance(13_660);
/// assert!(seen.insert_unique("cuckoo")?); // new again
/// assert!(seen.age("cuckoo").is_some_and(|age| age <= 60));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Removing keys
///
/// A removal forgets all keys that share the key's fingerprint. Removing a key that was never
/// inserted can do this too, with the probability of a false positive.
pub type ExpiringCuckooFilter = Filter<Expiring<Fixed>>;

/// A set whose keys expire, and that grows and shrinks with the number of those that live: as
/// [`ExpiringCuckooFilter`], over the segments of [`GrowableCuckooFilter`].
///
/// Inserts never fail. A segment, of at most 2^15 slots, is swept as a whole by the first insert or
/// removal in it in each step of time, which also makes it smaller, or puts it together with its
/// other half, if few keys are left. So memory follows the keys that live, as far as inserts or
/// removals come by. [`len`](Self::len) counts a key twice whose fingerprint had no bit left for a
/// split: one in sixteen after ten doublings within the time that keys live.
///
/// ```
/// use malkoha::{Builder, GrowableExpiringCuckooFilter};
///
/// let mut seen: GrowableExpiringCuckooFilter =
///     Builder::new().fpr(0.001).expire_after(60).build()?;
/// for second in 0..300_u64 {
///     seen.advance(second);
///     for key in 0..1_000_u64 {
///         seen.insert((second, key))?;
///     }
/// }
/// assert!(seen.contains((240_u64, 5_u64)) && seen.len() < 66_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "std")]
pub type GrowableExpiringCuckooFilter = Filter<Expiring<Growing>>;

/// A set whose keys expire, that grows and shrinks, and that any number of threads share: the
/// segments of a [`GrowableExpiringCuckooFilter`], shared as those of a
/// [`GrowableConcurrentCuckooFilter`]. It has the files of the former.
///
/// [`insert_unique`](Self::insert_unique) and [`refresh`](Self::refresh) are atomic: if several
/// threads bring the same key at the same time, it is new to exactly one of them.
///
/// ```
/// use malkoha::{Builder, GrowableConcurrentExpiringCuckooFilter};
///
/// let seen: GrowableConcurrentExpiringCuckooFilter =
///     Builder::new().capacity(100_000).fpr(0.001).expire_after(3_600).build()?;
/// seen.advance(5_000);
/// let new = std::thread::scope(|scope| {
///     let workers = [0, 1].map(|_| {
///         scope.spawn(|| (0..10_000).filter(|job| seen.insert_unique(job).unwrap()).count())
///     });
///     workers.map(|worker| worker.join().unwrap()).iter().sum::<usize>()
/// });
/// assert!(new <= 10_000 && new as u64 == seen.len());
/// # Ok::<(), malkoha::BuildError>(())
/// ```
#[cfg(feature = "std")]
pub type GrowableConcurrentExpiringCuckooFilter = Filter<Partitioned<Expiring<Growing>>>;
