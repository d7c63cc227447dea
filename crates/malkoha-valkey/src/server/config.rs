//! Settings: `CONFIG SET malkoha.capacity 5000`, or the same in the server's configuration file.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicU64, Ordering};

use malkoha::KeyHasher;
use valkey_module::ValkeyError;
use valkey_module::configuration::{ConfigurationFlags, register_i64_configuration};
use valkey_module::raw::{self, RedisModuleCtx, RedisModuleString};

use super::key::bytes;
use crate::value::{Properties, parse_rate};

static CAPACITY: AtomicI64 = AtomicI64::new(1024);
static GROWTH: AtomicI64 = AtomicI64::new(1);
static MAX_FILTER_BYTES: AtomicI64 = AtomicI64::new(2 << 30);
/// The bits of a floating-point number.
static ERROR_RATE: AtomicU64 = AtomicU64::new(DEFAULT_RATE.to_bits());
/// The text that `ERROR_RATE` was set to, owned by us.
static ERROR_RATE_TEXT: AtomicPtr<RedisModuleString> = AtomicPtr::new(null_mut());

const DEFAULT_RATE: f64 = 0.01;
const DEFAULT_RATE_TEXT: &CStr = c"0.01";

/// Why a rate or a growth is refused.
const IMPOSSIBLE: &str = "error-rate must be a number below 1 that filters can keep to up to \
    malkoha.growth: for a growth of 1 about 5e-8 or more, for any growth 3e-7";

/// The least and the greatest default capacity.
const CAPACITIES: (i64, i64) = (4, 1 << 30);

/// Items up to which the rate of a filter holds that began with fewer than [`LARGE`].
const LEAST_GROWN: f64 = 1_048_576.0;
/// Capacity that somebody means: at most 16 bits per item at 0.1 %, if they name no growth.
const LARGE: u64 = 1 << 16;

/// The properties of a filter whose creator gave none, or only the capacity.
pub(crate) fn defaults(capacity: Option<u64>) -> Properties {
    let capacity = capacity.unwrap_or_else(|| CAPACITY.load(Ordering::Relaxed).cast_unsigned());
    #[expect(clippy::cast_precision_loss, reason = "at most 10^9, and a ratio")]
    let (growth, least) = (GROWTH.load(Ordering::Relaxed) as f64, LEAST_GROWN / capacity as f64);
    let least = if capacity < LARGE { least } else { 1.0 };
    Properties {
        capacity,
        error_rate: f64::from_bits(ERROR_RATE.load(Ordering::Relaxed)),
        growth: growth.max(least),
        bucket_size: 2,
        max_iterations: 20,
        expansion: 1,
    }
}

/// Sets the capacity of filters that are not reserved; `None` if `text` is not a capacity.
pub(super) fn set_capacity(text: &str) -> Option<()> {
    let possible = CAPACITIES.0..=CAPACITIES.1;
    let capacity = text.parse().ok().filter(|capacity| possible.contains(capacity))?;
    CAPACITY.store(capacity, Ordering::Relaxed);
    Some(())
}

/// The most that one filter may take.
pub(crate) fn max_filter_bytes() -> u64 {
    MAX_FILTER_BYTES.load(Ordering::Relaxed).cast_unsigned()
}

pub(super) fn register(context: *mut RedisModuleCtx) -> bool {
    let module = valkey_module::Context::new(context);
    let number = |name, value: &'static AtomicI64, (min, max), flags| {
        let default = value.load(Ordering::Relaxed);
        // The server sets the value that it had if this fails.
        let on_set = |_: &_, _: &_, _: &_| {
            let is_possible = is_possible(defaults(None).error_rate);
            is_possible.then_some(()).ok_or(ValkeyError::Str(IMPOSSIBLE))
        };
        let on_set = Some(Box::new(on_set) as _);
        register_i64_configuration(&module, name, value, default, min, max, flags, None, on_set);
    };
    number("capacity", &CAPACITY, CAPACITIES, ConfigurationFlags::DEFAULT);
    number("growth", &GROWTH, (1, 1_000_000_000), ConfigurationFlags::DEFAULT);
    number("max-filter-bytes", &MAX_FILTER_BYTES, (1 << 10, 1 << 50), ConfigurationFlags::MEMORY);
    // SAFETY: the context is that of the load, the texts end in 0.
    unsafe {
        call!(RedisModule_RegisterStringConfig(
            context,
            c"error-rate".as_ptr(),
            DEFAULT_RATE_TEXT.as_ptr(),
            raw::REDISMODULE_CONFIG_DEFAULT,
            Some(get_rate),
            Some(set_rate),
            None,
            null_mut()
        )) == 0
            && call!(RedisModule_LoadConfigs(context)) == 0
    }
}

/// Whether a filter can have this rate and the default growth.
fn is_possible(rate: f64) -> bool {
    let properties = Properties { error_rate: rate, ..defaults(Some(1024)) };
    properties.build(None, KeyHasher::new(0)).is_ok()
}

unsafe extern "C" fn get_rate(_name: *const c_char, _data: *mut c_void) -> *mut RedisModuleString {
    ERROR_RATE_TEXT.load(Ordering::Relaxed)
}

unsafe extern "C" fn set_rate(
    _name: *const c_char,
    value: *mut RedisModuleString,
    _data: *mut c_void,
    error: *mut *mut RedisModuleString,
) -> c_int {
    let Some(rate) = parse_rate(bytes(value)).filter(|&rate| is_possible(rate)) else {
        let (start, len) = (IMPOSSIBLE.as_ptr().cast(), IMPOSSIBLE.len());
        // SAFETY: the server gives room for a message, a string of its own that it frees.
        unsafe { *error = call!(RedisModule_CreateString(null_mut(), start, len)) };
        return 1;
    };
    ERROR_RATE.store(rate.to_bits(), Ordering::Relaxed);
    // SAFETY: kept beyond this call; the one before is given back.
    unsafe {
        call!(RedisModule_RetainString(null_mut(), value));
        let before = ERROR_RATE_TEXT.swap(value, Ordering::Relaxed);
        if !before.is_null() {
            call!(RedisModule_FreeString(null_mut(), before));
        }
    }
    0
}
