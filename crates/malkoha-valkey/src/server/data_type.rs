//! The callbacks of our data type. None lets a panic out.

use std::ffi::{CStr, c_int, c_longlong, c_void};
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

use valkey_module::raw::{
    self, RedisModuleCtx, RedisModuleDefragCtx, RedisModuleDigest, RedisModuleIO,
    RedisModuleString, RedisModuleType, RedisModuleTypeMethods,
};

use super::context::guarded;
use super::io::{RdbReader, RdbWriter};
use super::key::{DATA_TYPE, REDISBLOOM_TYPE};
use crate::value::{Damaged, ENCODING_VERSION, REDISBLOOM_VERSION, StoredFilter, Value};

/// Nine characters from the server's alphabet.
const NAME: &CStr = c"malkohacf";
/// That of RedisBloom's cuckoo filters.
const REDISBLOOM_NAME: &CStr = c"MBbloomCF";

pub(super) fn register(context: *mut RedisModuleCtx) -> bool {
    let mut methods = RedisModuleTypeMethods {
        version: raw::REDISMODULE_TYPE_METHOD_VERSION.into(),
        rdb_load: None,
        rdb_save: Some(rdb_save),
        aof_rewrite: Some(aof_rewrite),
        mem_usage: Some(mem_usage),
        digest: Some(digest),
        free: Some(free),
        aux_load: None,
        aux_save: None,
        aux_save_triggers: 0,
        free_effort: Some(free_effort),
        unlink: None,
        copy: Some(copy),
        defrag: Some(defrag),
        mem_usage2: None,
        free_effort2: None,
        unlink2: None,
        copy2: None,
        aux_save2: None,
    };
    let mut create = |name: &CStr, version: c_int, load, place: &AtomicPtr<RedisModuleType>| {
        methods.rdb_load = Some(load);
        // SAFETY: the context is that of the load; the server copies the methods.
        let data_type = unsafe {
            call!(RedisModule_CreateDataType(context, name.as_ptr(), version, &mut methods))
        };
        place.store(data_type, Ordering::Relaxed);
        !data_type.is_null()
    };
    create(NAME, ENCODING_VERSION, rdb_load as Load, &DATA_TYPE)
        && create(REDISBLOOM_NAME, REDISBLOOM_VERSION, rdb_load_redisbloom, &REDISBLOOM_TYPE)
}

type Load = unsafe extern "C" fn(*mut RedisModuleIO, c_int) -> *mut c_void;

/// # Safety
///
/// `value` must be one of ours, and not be changed for `'a`.
unsafe fn value<'a>(value: *const c_void) -> &'a Value {
    // SAFETY: the caller's promise.
    unsafe { &*value.cast() }
}

unsafe extern "C" fn rdb_load(io: *mut RedisModuleIO, version: c_int) -> *mut c_void {
    load(io, || Value::read(&mut RdbReader(io), version))
}

unsafe extern "C" fn rdb_load_redisbloom(io: *mut RedisModuleIO, version: c_int) -> *mut c_void {
    load(io, || Value::read_redisbloom(&mut RdbReader(io), version))
}

/// `io` is the stream of a callback that is going on.
fn load(io: *mut RedisModuleIO, read: impl FnOnce() -> Result<Value, Damaged>) -> *mut c_void {
    guarded(null_mut(), || match read() {
        Ok(value) => Box::into_raw(Box::new(value)).cast(),
        Err(damaged) => {
            let text = format!("a filter cannot be loaded: {damaged}\0");
            // SAFETY: the stream is that of this call; the texts end in 0, and `%s` takes one.
            unsafe {
                call!(RedisModule_LogIOError(
                    io,
                    c"warning".as_ptr(),
                    c"%s".as_ptr(),
                    text.as_ptr()
                ));
            }
            null_mut()
        }
    })
}

unsafe extern "C" fn rdb_save(io: *mut RedisModuleIO, pointer: *mut c_void) {
    // SAFETY: the server hands in a value of this type, and changes none meanwhile.
    guarded((), || unsafe { value(pointer) }.write(&mut RdbWriter(io)));
}

unsafe extern "C" fn aof_rewrite(
    io: *mut RedisModuleIO,
    key: *mut RedisModuleString,
    pointer: *mut c_void,
) {
    // SAFETY: the server hands in a value of this type, and changes none meanwhile.
    let value = unsafe { value(pointer) };
    guarded((), || {
        for (position, chunk) in value.chunks() {
            let number = c_longlong::try_from(position).unwrap_or(c_longlong::MAX);
            // SAFETY: `s` takes a string, `l` a long long, `b` bytes and their number.
            unsafe {
                call!(RedisModule_EmitAOF(
                    io,
                    c"CF.LOADCHUNK".as_ptr(),
                    c"slb".as_ptr(),
                    key,
                    number,
                    chunk.as_ptr(),
                    chunk.len()
                ));
            }
        }
    });
}

unsafe extern "C" fn mem_usage(pointer: *const c_void) -> usize {
    // SAFETY: the server hands in a value of this type.
    let value = unsafe { value(pointer) };
    // SAFETY: as it was allocated, in a box of its own.
    let own = unsafe { call!(RedisModule_MallocSize(pointer.cast_mut())) };
    guarded(0, || own.saturating_add(usize::try_from(value.bytes()).unwrap_or(usize::MAX)))
}

unsafe extern "C" fn free_effort(_key: *mut RedisModuleString, pointer: *const c_void) -> usize {
    // SAFETY: the server hands in a value of this type.
    let value = unsafe { value(pointer) };
    guarded(1, || value.allocations())
}

unsafe extern "C" fn digest(digest: *mut RedisModuleDigest, pointer: *mut c_void) {
    // SAFETY: the server hands in a value of this type.
    let value = unsafe { value(pointer) };
    guarded((), || {
        for (_, chunk) in value.chunks() {
            // SAFETY: the digest is that of this call; the bytes are only read.
            unsafe {
                call!(RedisModule_DigestAddStringBuffer(
                    digest,
                    chunk.as_ptr().cast(),
                    chunk.len()
                ));
            }
        }
        // SAFETY: as above.
        unsafe { call!(RedisModule_DigestEndSequence(digest)) };
    });
}

unsafe extern "C" fn copy(
    _from: *mut RedisModuleString,
    _to: *mut RedisModuleString,
    pointer: *const c_void,
) -> *mut c_void {
    // SAFETY: the server hands in a value of this type.
    let value = unsafe { value(pointer) };
    guarded(null_mut(), || Box::into_raw(Box::new(value.clone())).cast())
}

/// Moves the small allocations of a value to reduce fragmentation. The segments of tables stay:
/// they are larger than what the server defragments. One call does it all, so it returns 0.
unsafe extern "C" fn defrag(
    context: *mut RedisModuleDefragCtx,
    _key: *mut RedisModuleString,
    pointer: *mut *mut c_void,
) -> c_int {
    // SAFETY: the server hands in a value of this type, made by `Box::into_raw`.
    guarded((), || unsafe {
        let mut value = ManuallyDrop::new(Box::from_raw((*pointer).cast::<Value>()));
        relocate(context, &mut value);
        match &mut **value {
            Value::Filter(StoredFilter::Small(small)) => relocate(context, small),
            Value::Filter(StoredFilter::Large(large)) => relocate(context, large),
            Value::Loading(_) | Value::RedisBloom(_) => {}
        }
        *pointer = (&raw mut **value).cast();
    });
    0
}

/// # Safety
///
/// The context must be that of the call.
unsafe fn relocate<T>(context: *mut RedisModuleDefragCtx, place: &mut Box<T>) {
    // SAFETY: the caller's promise. The box was made by the server's allocator, and nobody else
    // knows its address; like any value of Rust what is in it can be moved byte for byte. The old
    // place is gone then, and is not freed again.
    unsafe {
        let moved = call!(RedisModule_DefragAlloc(context, (&raw mut **place).cast()));
        if !moved.is_null() {
            std::ptr::write(place, Box::from_raw(moved.cast()));
        }
    }
}

unsafe extern "C" fn free(pointer: *mut c_void) {
    // SAFETY: made by `Box::into_raw` of a `Value`, and freed once.
    guarded((), || drop(unsafe { Box::from_raw(pointer.cast::<Value>()) }));
}
