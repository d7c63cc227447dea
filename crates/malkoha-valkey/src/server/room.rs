//! The room that `malkoha.max-filter-bytes` and `maxmemory` leave for commands.

use std::sync::atomic::{AtomicU64, Ordering};

use valkey_module::Context as Server;

use super::{Context, max_filter_bytes};
use crate::error::CommandError;

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
    /// Bytes that a filter may take.
    pub(crate) fn limit(&self) -> u64 {
        if self.must_obey() { u64::MAX } else { max_filter_bytes() }
    }

    /// An error if no filter may take this many bytes, or `maxmemory` leaves no room for them.
    pub(crate) fn check_room(&self, bytes: u64) -> Result<(), CommandError> {
        if bytes > self.limit() {
            return Err(CommandError::too_large());
        }
        self.has_memory_for(bytes).then_some(()).ok_or(CommandError::NO_MEMORY)
    }

    /// Whether `maxmemory` leaves room for this many bytes more. Where the server evicts, it makes
    /// room after the command. Then only what does not fit an empty server is refused.
    pub(crate) fn has_memory_for(&self, bytes: u64) -> bool {
        // The server looks before each command, whose little it then gives.
        let all = bytes.saturating_add(PROMISED.load(Ordering::Relaxed));
        bytes < LITTLE || self.must_obey() || self.memory_left().is_none_or(|left| all <= left)
    }

    /// Bytes that `maxmemory` leaves, if there is one.
    fn memory_left(&self) -> Option<u64> {
        let info = Server::new(self.raw()).server_info("memory");
        let number = |name| info.field_unsigned(name).unwrap_or(0);
        let (most, used) = (number("maxmemory"), number("used_memory"));
        let policy = info.field_c("maxmemory_policy");
        let evicts = policy.is_some_and(|policy| policy != "noeviction");
        let left = if evicts { most } else { most.saturating_sub(used) };
        (most > 0).then_some(left)
    }
}
