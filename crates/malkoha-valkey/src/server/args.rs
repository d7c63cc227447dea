//! What a command was called with.

use std::ffi::c_int;
use std::slice;

use valkey_module::raw::RedisModuleString;

use super::api::call;

/// The arguments of a command, its name first. They live as long as the call.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    strings: &'a [*mut RedisModuleString],
}

impl<'a> Args<'a> {
    /// # Safety
    ///
    /// `argv` must be `argc` strings of the server that outlive `'a`; it may be null for none.
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
    pub(crate) fn keep(&self, index: usize) -> Kept {
        let string = self.raw(index);
        // SAFETY: a string of this call, counted once more.
        unsafe { call!(RedisModule_RetainString(std::ptr::null_mut(), string)) };
        Kept(string)
    }
}

/// A string of a command that stays. To be dropped where commands run.
pub(crate) struct Kept(*mut RedisModuleString);

impl Kept {
    /// Its bytes.
    ///
    /// # Safety
    ///
    /// They must not be read when this has been dropped.
    pub(super) unsafe fn bytes(&self) -> &'static [u8] {
        bytes(self.0)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: counted by `keep`, and given back once.
        unsafe { call!(RedisModule_FreeString(std::ptr::null_mut(), self.0)) };
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
