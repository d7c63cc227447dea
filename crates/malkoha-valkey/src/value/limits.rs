//! When a filter must not take more.

use malkoha::GrowableCuckooFilter;

use super::properties::Properties;

/// Whether a filter that must not grow is at its end: its slots hold what it was asked for. Further
/// copies of what is in twice take no slot.
pub(super) fn is_full(filter: &GrowableCuckooFilter, properties: &Properties, hash: u64) -> bool {
    !properties.grows() && in_slots(filter) >= properties.capacity && filter.count_hash(hash) < 2
}

/// Whether a filter that must not grow holds more than it was asked for.
pub(super) fn is_overfull(filter: &GrowableCuckooFilter, properties: &Properties) -> bool {
    !properties.grows() && in_slots(filter) > properties.capacity
}

fn in_slots(filter: &GrowableCuckooFilter) -> u64 {
    filter.len() - filter.spilled()
}
