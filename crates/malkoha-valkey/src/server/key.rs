//! The arguments of a command, and open keys of the server.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use valkey_module::raw::{
    self, RedisModuleCtx, RedisModuleKey, RedisModuleString, RedisModuleType, mstime_t,
};

use crate::error::CommandError;
use crate::value::{Chain, StoredFilter, Value};

/// The type of our values, once registered.
pub(super) static DATA_TYPE: AtomicPtr<RedisModuleType> = AtomicPtr::new(null_mut());
/// The type of filters that are wholly in RedisBloom's layout: RedisBloom can read what the server
/// saves of them.
pub(super) static REDISBLOOM_TYPE: AtomicPtr<RedisModuleType> = AtomicPtr::new(null_mut());
/// The expiry time of keys that have none.
const NO_EXPIRE: mstime_t = -1;

/// The key has a value of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OtherType;

impl From<OtherType> for CommandError {
    fn from(_: OtherType) -> Self {
        Self::WrongType
    }
}

/// Open until dropped.
pub(crate) struct Key<'a> {
    /// Null for a key that is not there and was opened for looking.
    raw: *mut RedisModuleKey,
    /// Our value, null if there is none.
    value: Result<*mut Value, OtherType>,
    call: PhantomData<&'a ()>,
}

impl Key<'_> {
    /// # Safety
    ///
    /// The context and the name must be those of a call that outlives the key.
    pub(super) unsafe fn open(
        context: *mut RedisModuleCtx,
        name: *mut RedisModuleString,
        mode: u32,
    ) -> Self {
        // SAFETY: the caller's promise; the key is open.
        unsafe {
            let raw = call!(RedisModule_OpenKey(context, name, mode.cast_signed()));
            Self { raw, value: value_of(raw), call: PhantomData }
        }
    }

    pub(crate) fn get(&self) -> Result<Option<&Value>, OtherType> {
        // SAFETY: what a key of our type holds is what we set or loaded: a `Value`, which stays
        // there until the key is freed or set. It is ours; commands run one at a time, and each
        // opens a key but once unless it only looks, so that nobody else changes it.
        self.value.map(|value| unsafe { value.as_ref() })
    }

    pub(crate) fn get_mut(&mut self) -> Result<Option<&mut Value>, OtherType> {
        // SAFETY: as in `get`.
        self.value.map(|value| unsafe { value.as_mut() })
    }

    /// Its value; an error if it is being loaded or of another type.
    pub(crate) fn whole(&self) -> Result<Option<&Value>, CommandError> {
        match self.get()? {
            Some(Value::Loading(_)) => Err(CommandError::LOADING),
            value => Ok(value),
        }
    }

    /// As [`whole`](Self::whole), but a key of another type contains nothing, like a missing one.
    pub(crate) fn whole_if_any(&self) -> Result<Option<&Value>, CommandError> {
        match self.whole() {
            Err(CommandError::WrongType) => Ok(None),
            other => other,
        }
    }

    /// Its value, to be changed; `otherwise` if the key is missing or holds another type.
    pub(crate) fn existing(&mut self, otherwise: CommandError) -> Result<&mut Value, CommandError> {
        match self.get_mut().ok().flatten().ok_or(otherwise)? {
            Value::Loading(_) => Err(CommandError::LOADING),
            value => Ok(value),
        }
    }

    /// Its filter, to be changed. It can have a part from RedisBloom.
    pub(crate) fn filter_mut(&mut self) -> Result<Option<&mut StoredFilter>, CommandError> {
        match self.get_mut()? {
            Some(Value::Filter(filter)) => Ok(Some(filter)),
            Some(Value::RedisBloom(_)) => Err(CommandError::OF_REDISBLOOM),
            Some(Value::Loading(_)) => Err(CommandError::LOADING),
            None => Ok(None),
        }
    }

    /// As [`filter_mut`](Self::filter_mut); an error if a part is RedisBloom's.
    pub(crate) fn ours(&mut self) -> Result<Option<&mut StoredFilter>, CommandError> {
        match self.filter_mut()? {
            Some(filter) if filter.older().is_some() => Err(CommandError::OF_REDISBLOOM),
            filter => Ok(filter),
        }
    }

    /// Replaces the key's value, and keeps its time to live, which the server would remove.
    pub(crate) fn set(&mut self, value: Value) {
        let is_redisbloom = |value: &Value| matches!(value, Value::RedisBloom(_));
        let wanted = is_redisbloom(&value);
        if let Ok(Some(place)) = self.get_mut()
            && is_redisbloom(place) == wanted
        {
            *place = value;
            return;
        }
        let data_type = if wanted { &REDISBLOOM_TYPE } else { &DATA_TYPE };
        let pointer = Box::into_raw(Box::new(value));
        // SAFETY: the key is open for writing; the server owns the value from now on and frees it
        // with our callback, as it does now with one of the other type. The key keeps its time.
        unsafe {
            let expire = call!(RedisModule_GetAbsExpire(self.raw));
            let data_type = data_type.load(Ordering::Relaxed);
            call!(RedisModule_ModuleTypeSetValue(self.raw, data_type, pointer.cast()));
            if expire != NO_EXPIRE {
                call!(RedisModule_SetAbsExpire(self.raw, expire));
            }
        }
        self.value = Ok(pointer);
    }

    /// RedisBloom's part, if the key has nothing else: a new value must then be set.
    pub(crate) fn take_redisbloom(&mut self) -> Option<Chain> {
        match self.get_mut() {
            Ok(Some(Value::RedisBloom(chain))) => Some(chain.take()),
            _ => None,
        }
    }
}

/// Our value of an open key, null if there is none.
///
/// # Safety
///
/// The key must be open, or null.
unsafe fn value_of(key: *mut RedisModuleKey) -> Result<*mut Value, OtherType> {
    if key.is_null() {
        return Ok(null_mut());
    }
    // SAFETY: the caller's promise.
    unsafe {
        let data_type = call!(RedisModule_ModuleTypeGetType(key));
        let ours = [&DATA_TYPE, &REDISBLOOM_TYPE];
        if !data_type.is_null() && ours.iter().any(|ours| ours.load(Ordering::Relaxed) == data_type)
        {
            return Ok(call!(RedisModule_ModuleTypeGetValue(key)).cast());
        }
        let kind = call!(RedisModule_KeyType(key)) as isize;
        if kind == raw::REDISMODULE_KEYTYPE_EMPTY { Ok(null_mut()) } else { Err(OtherType) }
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by us and closed once. Null is allowed.
        unsafe { call!(RedisModule_CloseKey(self.raw)) };
    }
}

/// The arguments of a command, its name first. They live as long as the call.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    strings: &'a [*mut RedisModuleString],
}

impl<'a> Args<'a> {
    /// # Safety
    ///
    /// `argv` must be `argc` strings of the server that outlive `'a`; it can be null for none.
    pub(super) unsafe fn new(argv: *mut *mut RedisModuleString, argc: c_int) -> Self {
        let count = usize::try_from(argc).unwrap_or(0);
        if count == 0 {
            return Self { strings: &[] };
        }
        // SAFETY: the caller's promise.
        Self { strings: unsafe { slice::from_raw_parts(argv, count) } }
    }

    pub(crate) fn len(&self) -> usize {
        self.strings.len()
    }

    /// The argument's bytes.
    ///
    /// # Panics
    ///
    /// If there is none of this number; commands check their length first.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        bytes(self.strings[index])
    }

    pub(crate) fn iter(self, from: usize) -> impl Iterator<Item = &'a [u8]> {
        self.strings[from..].iter().map(|&string| bytes(string))
    }

    pub(super) fn raw(&self, index: usize) -> *mut RedisModuleString {
        self.strings[index]
    }

    /// # Safety
    ///
    /// The strings, and where their addresses are, must stay as long as the copy is used.
    pub(super) unsafe fn outliving_the_call(self) -> Args<'static> {
        let (start, len) = (self.strings.as_ptr(), self.strings.len());
        // SAFETY: the caller's promise.
        Args { strings: unsafe { slice::from_raw_parts(start, len) } }
    }

    /// An argument that stays until what this returns is dropped.
    pub(crate) fn retain(&self, index: usize) -> RetainedString {
        let string = self.raw(index);
        // SAFETY: a string of this call, counted once more.
        unsafe { call!(RedisModule_RetainString(null_mut(), string)) };
        RetainedString(string)
    }
}

/// A string of a command that stays. To be dropped where commands run.
pub(crate) struct RetainedString(*mut RedisModuleString);

impl RetainedString {
    /// Its bytes.
    ///
    /// # Safety
    ///
    /// They must not be read when this has been dropped.
    pub(super) unsafe fn bytes(&self) -> &'static [u8] {
        bytes(self.0)
    }
}

impl Drop for RetainedString {
    fn drop(&mut self) {
        // SAFETY: counted by `retain`, and given back once.
        unsafe { call!(RedisModule_FreeString(null_mut(), self.0)) };
    }
}

pub(super) fn bytes<'a>(string: *const RedisModuleString) -> &'a [u8] {
    let mut len = 0;
    // SAFETY: strings come from the server alone, inside the call that they live for; their bytes
    // are not changed meanwhile.
    unsafe {
        let start = call!(RedisModule_StringPtrLen(string, &mut len));
        slice::from_raw_parts(start.cast(), len)
    }
}
