//! The room that `maxmemory` leaves for commands.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Context;

/// Bytes that a command may take without asking whether there is room.
const LITTLE: u64 = 64 << 10;

/// Bytes that background work has yet to allocate.
static PROMISED: AtomicU64 = AtomicU64::new(0);

/// Bytes that other commands count as used while this value lives.
pub(crate) struct Promised(u64);

impl Promised {
    pub(crate) fn of(bytes: u64) -> Self {
        PROMISED.fetch_add(bytes, Ordering::Relaxed);
        Self(bytes)
    }
}

impl Drop for Promised {
    fn drop(&mut self) {
        PROMISED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl Context {
    /// Whether `maxmemory` leaves room for so many bytes more. Where the server evicts, it makes
    /// room after the command. Then only what does not fit an empty server is refused.
    pub(crate) fn has_memory_for(&self, bytes: u64) -> bool {
        // The server looks before each command, whose little it then gives.
        let all = bytes.saturating_add(PROMISED.load(Ordering::Relaxed));
        bytes < LITTLE || self.must_obey() || self.memory_left().is_none_or(|left| all <= left)
    }

    /// Bytes that `maxmemory` leaves, if there is one.
    fn memory_left(&self) -> Option<u64> {
        // SAFETY: the context is of this call, the texts end in 0; what is learned is freed once,
        // and the text of the policy is not kept.
        unsafe {
            let info = call!(RedisModule_GetServerInfo(self.raw(), c"memory".as_ptr()));
            let number = |name: &CStr| {
                let mut error = 0;
                let field =
                    call!(RedisModule_ServerInfoGetFieldUnsigned(info, name.as_ptr(), &mut error));
                if error == 0 { field } else { 0 }
            };
            let (most, used) = (number(c"maxmemory"), number(c"used_memory"));
            let policy = c"maxmemory_policy".as_ptr();
            let policy = call!(RedisModule_ServerInfoGetFieldC(info, policy));
            let evicts = !policy.is_null() && CStr::from_ptr(policy) != c"noeviction";
            call!(RedisModule_FreeServerInfo(self.raw(), info));
            let left = if evicts { most } else { most.saturating_sub(used) };
            (most > 0).then_some(left)
        }
    }
}
