//! When a filter must refuse items.

use super::properties::Properties;
use super::table::Table;

/// Whether a filter that must not grow is full: its slots hold its capacity. Further copies of an
/// item that is in twice take no slot, nor does an item that is added again before it expires.
pub(super) fn is_full(table: &Table, properties: &Properties, hash: u64) -> bool {
    is_over(table, properties, properties.capacity) && !table.has_slot_for(hash)
}

/// Whether a filter that must not grow holds more than its capacity.
pub(super) fn is_overfull(table: &Table, properties: &Properties) -> bool {
    is_over(table, properties, properties.capacity.saturating_add(1))
}

fn is_over(table: &Table, properties: &Properties, items: u64) -> bool {
    !properties.grows() && table.in_slots() >= items
}
