//! The options of a filter.

use malkoha::{
    BuildError, Builder, ConcurrentCuckooFilter, CuckooFilter, CuckooMap, ExpiringCuckooFilter,
    GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap,
    GrowableConcurrentExpiringCuckooFilter, GrowableCuckooFilter, GrowableCuckooMap,
    GrowableExpiringCuckooFilter, KeyHasher,
};

use crate::filter::Filter;
use crate::memory;
use crate::status::{Failure, Status, done};
use crate::tables::{Table, locked};

/// Filter options. Made by malkoha_options_new(), freed by malkoha_options_free(). Nothing is
/// checked before malkoha_new().
#[derive(Clone, Copy)]
pub struct Options {
    capacity: Option<u64>,
    rate: f64,
    growable: bool,
    shared: bool,
    value_bits: Option<u32>,
    ttl: Option<u64>,
    resolution: Option<u64>,
    hasher: KeyHasher,
}

impl Options {
    fn builder<F>(&self) -> Builder<F> {
        let builder = Builder::new().fpr(self.rate).with_hasher(self.hasher);
        let builder = if let Some(keys) = self.capacity { builder.capacity(keys) } else { builder };
        let builder = if let Some(ttl) = self.ttl { builder.expire_after(ttl) } else { builder };
        let builder =
            if let Some(step) = self.resolution { builder.resolution(step) } else { builder };
        if let Some(bits) = self.value_bits { builder.value_bits(bits) } else { builder }
    }

    fn build(&self) -> Result<Table, BuildError> {
        if self.ttl.is_some() || self.resolution.is_some() {
            // None of them takes values: the builder says so.
            return Ok(Table::Expiring(match (self.growable, self.shared) {
                (false, false) => locked(self.builder::<ExpiringCuckooFilter>().build()?),
                (true, false) => locked(self.builder::<GrowableExpiringCuckooFilter>().build()?),
                (_, true) => {
                    Box::new(self.builder::<GrowableConcurrentExpiringCuckooFilter>().build()?)
                }
            }));
        }
        if self.value_bits.is_some() {
            return Ok(Table::Map(match (self.growable, self.shared) {
                (false, false) => locked(self.builder::<CuckooMap>().build()?),
                (true, false) => locked(self.builder::<GrowableCuckooMap>().build()?),
                (_, true) => Box::new(self.builder::<GrowableConcurrentCuckooMap>().build()?),
            }));
        }
        Ok(Table::Set(match (self.growable, self.shared) {
            (false, false) => locked(self.builder::<CuckooFilter>().build()?),
            (true, false) => locked(self.builder::<GrowableCuckooFilter>().build()?),
            (false, true) => Box::new(self.builder::<ConcurrentCuckooFilter>().build()?),
            (true, true) => Box::new(self.builder::<GrowableConcurrentCuckooFilter>().build()?),
        }))
    }
}

/// Options for a set of fixed size, with 1 in 1000 wrong answers. A capacity has to be said, or
/// that it is to grow. To be freed with malkoha_options_free().
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_options_new() -> *mut Options {
    Box::into_raw(Box::new(Options {
        capacity: None,
        rate: 0.001,
        growable: false,
        shared: false,
        value_bits: None,
        ttl: None,
        resolution: None,
        hasher: KeyHasher::new(0),
    }))
}

/// Frees options. Null is nothing.
///
/// # Safety
///
/// `options` comes from malkoha_options_new() and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_free(options: *mut Options) {
    if !options.is_null() {
        // SAFETY: the caller's contract: it was made by `Box::into_raw`.
        drop(unsafe { Box::from_raw(options) });
    }
}

/// Changes options.
///
/// # Safety
///
/// `options` is null or comes from malkoha_options_new(), and nobody else uses it now.
unsafe fn set(options: *mut Options, change: impl FnOnce(&mut Options)) -> i32 {
    // SAFETY: the caller's contract.
    done(|| unsafe { memory::exclusive(options, "options") }.map(change))
}

/// The number of distinct keys to hold, 1 to 2^36; where it grows, to begin with.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_capacity(options: *mut Options, keys: u64) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.capacity = Some(keys)) }
}

/// The highest false-positive rate, above 0 and below 1.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_false_positive_rate(
    options: *mut Options,
    rate: f64,
) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.rate = rate) }
}

/// Whether it grows as keys come. It needs no capacity then, unless it is shared too.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_growable(options: *mut Options, growable: bool) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.growable = growable) }
}

/// Whether threads use it at the same time without waiting for each other: lookups take no lock.
/// All others can be used by any threads too, which then take turns.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_shared(options: *mut Options, shared: bool) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.shared = shared) }
}

/// Makes it a map, whose values have up to this many bits, 1 to 64.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_value_bits(options: *mut Options, bits: u32) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.value_bits = Some(bits)) }
}

/// Makes it a set whose keys expire: they are remembered for `ttl`, in any unit of time, which
/// malkoha_advance() counts on, and at most by one step of malkoha_options_resolution() longer.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_expire_after(options: *mut Options, ttl: u64) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.ttl = Some(ttl)) }
}

/// How much longer than their time keys can be found, in its unit: by default a fifteenth of it.
/// Finer steps take more bits per key.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_resolution(options: *mut Options, step: u64) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.resolution = Some(step)) }
}

/// Hashes by XXH3 with this seed; by default 0. Only filters of one seed can be united.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_seed(options: *mut Options, seed: u64) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.hasher = KeyHasher::new(seed)) }
}

/// Hashes by SipHash-1-3 with this key of 16 bytes: for keys that strangers choose. Keep it secret.
///
/// # Safety
///
/// `options` comes from malkoha_options_new(); `key` points to 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_key(options: *mut Options, key: *const u8) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let (options, key) =
            unsafe { (memory::exclusive(options, "options")?, memory::items(key, 16, "key")?) };
        let key = key.try_into().expect("16 bytes were asked for");
        options.hasher = KeyHasher::sip13(u128::from_le_bytes(key));
        Ok(())
    })
}

/// malkoha_options_key() with a key that the system chooses at random.
///
/// # Safety
///
/// `options` comes from malkoha_options_new().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_options_random_key(options: *mut Options) -> i32 {
    // SAFETY: the caller's contract.
    unsafe { set(options, |options| options.hasher = KeyHasher::random()) }
}

/// Builds an empty filter as the options say. The options stay as they are.
///
/// # Safety
///
/// `options` comes from malkoha_options_new(), and `filter` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malkoha_new(options: *const Options, filter: *mut *mut Filter) -> i32 {
    done(|| {
        // SAFETY: the caller's contract.
        let options = unsafe { memory::reference(options, "options") }?;
        if options.capacity.is_none() && !options.growable {
            let text = "no capacity was given: call malkoha_options_capacity() with the number of \
                        keys, or malkoha_options_growable()";
            return Err(Failure::new(Status::Argument, text));
        }
        // SAFETY: the caller's contract.
        unsafe { Filter::hand_out(options.build()?, filter) }
    })
}
