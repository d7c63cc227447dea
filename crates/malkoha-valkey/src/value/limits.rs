//! When a filter must not take more.

use malkoha::GrowableCuckooFilter;

use super::properties::Properties;

/// Additions between two looks at the filter's size, which takes a walk over its segments: few
/// enough that it cannot run away, and a nanosecond each.
pub(super) fn interval(filter: &GrowableCuckooFilter) -> u64 {
    1024 + filter.segments() as u64
}

/// Whether a filter that must not grow is at its end: its slots hold what it was asked for. Further
/// copies of what is in twice take no slot.
pub(super) fn is_full(filter: &GrowableCuckooFilter, properties: &Properties, hash: u64) -> bool {
    !properties.grows()
        && filter.len() - filter.spilled() >= properties.capacity
        && filter.count_hash(hash) < 2
}
