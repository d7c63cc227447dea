//! Any number of equal copies: usually two in the table, the others in the spill list.
//!
//! Copies are equal if they have the same fingerprint and the same pair of places. In every layout
//! a slot tells both, wherever moves have brought it. So copies are recognised exactly.

use alloc::vec::Vec;

use crate::addressing::{Probe, every_place};
use crate::layout::search::{Search, insert_with_moves};
use crate::layout::search_budget::{self, NEAR};
use crate::layout::traits::{Placement, TableLayout};
use crate::spill::{MAX_COPIES, Spill, SpillKey};

/// How often a key counts in a union that counts in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// As often as in the one in which it counts more.
    Most,
    /// As often as in both together.
    Sum,
}

/// The state that keys need if their candidate slots are full.
pub(crate) struct Overflow<'a> {
    pub(crate) search: &'a mut Search,
    pub(crate) spill: &'a mut Spill,
    /// Evictions that an insert considers, and so places that its search looks at.
    pub(crate) max_kicks: u32,
}

/// [`insert`] into a table that can be [crowded](TableLayout::CROWDED): there it takes the emptier
/// place, in a sparse one the first with room. A table with values always counts as sparse.
///
/// # Safety
///
/// `bytes` is a table of the layout's geometry.
#[inline(always)]
pub(crate) unsafe fn insert_as<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    overflow: &mut Overflow<'_>,
    probe: &Probe,
    value: u64,
    is_sparse: bool,
) -> bool {
    let aim = layout.aim(probe);
    // SAFETY: the caller vouches for the table, and the aim is the layout's.
    let placement = unsafe {
        if is_sparse {
            layout.try_place(bytes, &aim, probe, value)
        } else {
            layout.try_place_emptier(bytes, &aim, || *probe)
        }
    };
    placement == Placement::Taken
        || insert_refused(layout, bytes, overflow, probe, value, placement)
}

/// Inserts a key. If this returns `false`, it was a first copy, and nothing has changed.
#[inline]
pub(crate) fn insert<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    overflow: &mut Overflow<'_>,
    probe: &Probe,
    value: u64,
) -> bool {
    assert!(layout.end(&layout.aim(probe)) <= bytes.len(), "a key of another table");
    // SAFETY: as was asserted.
    unsafe { insert_as(layout, bytes, overflow, probe, value, true) }
}

/// Inserts the content of another table of the same geometry: `bytes` and spill list. Returns the
/// number of copies, or `None` if they did not fit; then some of them are in.
pub(crate) fn absorb<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    overflow: &mut Overflow<'_>,
    from: &[u8],
    from_spill: &Spill,
    copies: Copies,
) -> Option<u64> {
    let lacking = |bytes: &[u8], spill: &Spill, probe: &Probe, value| {
        let count = |bytes: &[u8], spill: &Spill| {
            let spilled = spill.count(&SpillKey::of(probe, value));
            u64::from(layout.copies(bytes, probe, value)).saturating_add(spilled)
        };
        count(from, from_spill).saturating_sub(count(bytes, spill))
    };
    let mut added = 0_u64;
    let places = every_place(layout.addressing().segments(), layout.places());
    let occupants = places.flat_map(|(segment, place)| layout.occupants(from, segment, place));
    for (probe, value) in occupants {
        // Copies that were added for an equal slot before count as present.
        let missing = match copies {
            Copies::Sum => 1,
            Copies::Most => lacking(bytes, overflow.spill, &probe, value),
        };
        let near = missing.min(MAX_COPIES.into());
        for _ in 0..near {
            if !insert(layout, bytes, overflow, &probe, value) {
                return None;
            }
        }
        if missing > near {
            overflow.spill.add(SpillKey::of(&probe, value), missing - near);
        }
        added = added.saturating_add(missing);
    }
    // Values that lie in no slot of the other table; a slot of their key is in this one by now.
    for (key, theirs) in from_spill.iter() {
        let missing = match copies {
            Copies::Sum => theirs,
            Copies::Most => layout
                .addressing()
                .resident(key.segment, key.place, key.fingerprint)
                .map_or(0, |probe| lacking(bytes, overflow.spill, &probe, key.value)),
        };
        if missing > 0 {
            overflow.spill.add(key, missing);
        }
        added = added.saturating_add(missing);
    }
    Some(added)
}

/// Removes everything that is not in another table of the same geometry. A key that is in both
/// keeps the copies that it has here.
pub(crate) fn retain<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    spill: &mut Spill,
    other: &[u8],
) {
    for (segment, place) in every_place(layout.addressing().segments(), layout.places()) {
        let occupants = layout.occupants(bytes, segment, place);
        let gone: Vec<_> = occupants.filter(|(probe, _)| layout.count(other, probe) == 0).collect();
        for (probe, value) in gone {
            layout.vacate(bytes, place, &probe, value);
            spill.remove(&SpillKey::of(&probe, value));
        }
    }
}

/// Takes a copy of a pair from the spill list, else from the table.
#[inline]
pub(crate) fn remove<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    spill: &mut Spill,
    probe: &Probe,
    value: u64,
) -> bool {
    if spill.is_empty() {
        layout.remove(bytes, probe, value)
    } else {
        remove_spilled(layout, bytes, spill, probe, value)
    }
}

#[inline(never)]
fn remove_spilled<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    spill: &mut Spill,
    probe: &Probe,
    value: u64,
) -> bool {
    if spill.take(&SpillKey::of(probe, value)) {
        return true;
    }
    let removed = layout.remove(bytes, probe, value);
    // Spilled values are found through a slot, so another value takes the slot that is now free.
    let others = removed && layout.has_values();
    if others && let Some(other) = spill.pop(SpillKey::of(probe, 0)) {
        layout.take_free(bytes, probe, other);
    }
    removed
}

/// Inserts a key that its candidate slots did not take at once.
#[cold]
#[inline(never)]
pub(crate) fn insert_refused<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    overflow: &mut Overflow<'_>,
    probe: &Probe,
    value: u64,
    refusal: Placement,
) -> bool {
    let Overflow { search, spill, max_kicks } = overflow;
    let limit = search.refusals.limit(probe.segment, *max_kicks);
    let near = limit.min(NEAR);
    let insert_near = |bytes: &mut [u8], search: &mut Search| {
        layout.take_free(bytes, probe, value)
            || insert_with_moves(layout, bytes, search, probe, value, near)
    };
    if refusal == Placement::Copy {
        // In a map, equal fingerprints can have different values.
        let in_table = layout.count(bytes, probe);
        let inserted = if layout.copies(bytes, probe, value) >= MAX_COPIES {
            false
        } else if in_table >= MAX_COPIES {
            // Nothing moves for a key that has its share of slots.
            layout.take_free(bytes, probe, value)
        } else {
            insert_near(bytes, search)
        };
        if !inserted && in_table > 0 {
            spill.add(SpillKey::of(probe, value), 1);
        }
        if inserted || in_table > 0 {
            return true;
        }
    } else if insert_with_moves(layout, bytes, search, probe, value, near) {
        return true;
    }
    // A second copy is no reason to refuse a new key.
    let near_room =
        spill_a_copy(layout, bytes, search, spill, probe, near) && insert_near(bytes, search);
    let inserted = near_room
        || (limit > near && insert_with_moves(layout, bytes, search, probe, value, limit));
    if !inserted {
        let price = search_budget::price(layout.places(), *max_kicks);
        search.refusals.refused(probe.segment, price);
    }
    inserted
}

/// The last search found no room. Of the places that it looked at, takes the first that holds one
/// of several copies with the same fingerprint, and spills that copy; in a map their values may
/// differ. Returns whether there was one.
fn spill_a_copy<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    search: &Search,
    spill: &mut Spill,
    probe: &Probe,
    limit: u32,
) -> bool {
    let candidates = layout.candidates(probe).as_ref().len();
    let mut looked_at = 0;
    let copy = search.looked_at(layout.places(), candidates, limit).find_map(|place| {
        looked_at += 1;
        let mut occupants = layout.occupants(bytes, probe.segment, place);
        let copy = occupants.find(|(occupant, _)| {
            looked_at += 1;
            layout.count(bytes, occupant) > 1
        });
        copy.map(|copy| (place, copy))
    });
    search_budget::looked_at(looked_at);
    if let Some((place, (copy, value))) = copy {
        layout.vacate(bytes, place, &copy, value);
        spill.add(SpillKey::of(&copy, value), 1);
    }
    copy.is_some()
}
