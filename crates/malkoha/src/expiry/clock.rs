//! A clock for callers that have none of their own.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock that never goes back: milliseconds since 1970 when it was started, plus those that
/// have passed since. No filter reads a clock by itself: the program passes the time.
///
/// ```
/// use malkoha::{Clock, ExpiringCuckooFilter};
///
/// let clock = Clock::start();
/// let hour = 60 * 60 * 1000;
/// let mut seen = ExpiringCuckooFilter::with_capacity(1_000, 0.001, hour)?;
/// seen.advance(clock.now());
/// seen.insert("cuckoo")?;
/// assert!(seen.contains("cuckoo"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    /// Milliseconds since 1970 at that time.
    since_1970: u64,
}

impl Clock {
    /// A clock that goes from now on.
    #[must_use]
    pub fn start() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since_1970 = u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX);
        Self { started: Instant::now(), since_1970 }
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        let passed = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since_1970.saturating_add(passed)
    }
}
