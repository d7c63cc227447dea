//! How far an insert may search, counted in places that it looks at.
//!
//! Anyone who knows the hash can fill a segment with keys that fit nowhere, and each refusal would
//! be a search to its limit. So a segment that has refused a key has a *short budget*: its inserts
//! look at few places. Each removal from it makes up for some places of the refused search. When
//! all are made up for, the segment has its whole budget again.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
#[cfg(feature = "std")]
use std::cell::Cell;

/// Places that a copy may look at for room before it is spilled, and a new key before it looks for
/// a copy that gives way. Searches below the load that tables are built for rarely take more.
pub(crate) const NEAR: u32 = 1_000;

/// Places that a search looks at in a segment with a short budget. Below the load that tables
/// are built for this is usually enough, so other keys of the segment are hardly affected.
pub(crate) const SHORT: u32 = 128;
/// Places that a removal makes up for.
const PER_REMOVAL: u32 = 256;
/// Slots of a bucket, at most.
const MOST_SLOTS: u64 = 16;
/// Places that a search looks at beyond its limit: its candidates, and the targets of all moves out
/// of its last place.
const BEYOND: u64 = 4 + MOST_SLOTS;

/// Places that an insert into a table of fixed size looks at, at most, if it may consider this many
/// evictions: two near searches, one for copies that could give way between them, with the
/// occupants of each place, and a far one.
#[must_use]
pub const fn most_places(max_kicks: u32) -> u64 {
    let near = if max_kicks < NEAR { max_kicks } else { NEAR } as u64;
    2 * (near + BEYOND) + (near + BEYOND) * (1 + MOST_SLOTS) + max_kicks as u64 + BEYOND
}

/// The same in a segment that has refused a key, until enough keys were removed from it to pay for
/// a long search: one for 256 of its places.
#[must_use]
pub const fn most_places_after_refusal() -> u64 {
    most_places(SHORT)
}

/// The places of a refused search in a segment of this many places.
pub(crate) fn price(places: u64, max_kicks: u32) -> u32 {
    u32::try_from(places * 8).unwrap_or(u32::MAX).min(max_kicks)
}

/// The places that are still to be made up for after a removal.
pub(crate) fn after_removal(missing: u32) -> u32 {
    missing.saturating_sub(PER_REMOVAL)
}

/// The segments of a table that have refused a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals {
    /// The places that removals from each of them have still to make up for.
    #[expect(clippy::box_collection, reason = "as a rule there is none, and searches are moved")]
    missing: Option<Box<BTreeMap<u64, u32>>>,
}

impl Refusals {
    pub(crate) const fn new() -> Self {
        Self { missing: None }
    }

    /// Evictions that an insert into this segment may consider, at most `max_kicks`.
    pub(crate) fn limit(&self, segment: u64, max_kicks: u32) -> u32 {
        let is_short = self.missing.as_ref().is_some_and(|all| all.contains_key(&segment));
        if is_short { max_kicks.min(SHORT) } else { max_kicks }
    }

    /// Notes a refusal.
    pub(crate) fn refused(&mut self, segment: u64, price: u32) {
        self.missing.get_or_insert_default().entry(segment).or_insert(price);
    }

    /// Whether a segment has a short budget.
    #[inline(always)]
    pub(crate) fn is_any_short(&self) -> bool {
        self.missing.is_some()
    }

    /// Notes a removal.
    #[inline(never)]
    pub(crate) fn removed(&mut self, segment: u64) {
        let Some(all) = &mut self.missing else { return };
        let Some(missing) = all.get_mut(&segment) else { return };
        *missing = after_removal(*missing);
        if *missing == 0 {
            all.remove(&segment);
            if all.is_empty() {
                self.missing = None;
            }
        }
    }
}

#[cfg(feature = "std")]
std::thread_local! {
    static LOOKED_AT: Cell<u64> = const { Cell::new(0) };
}

/// Adds to what [`places_looked_at`] returns.
pub(crate) fn looked_at(places: usize) {
    #[cfg(feature = "std")]
    LOOKED_AT.set(LOOKED_AT.get().wrapping_add(places as u64));
    #[cfg(not(feature = "std"))]
    let _ = places;
}

/// Places that inserts of this thread have looked at beyond their keys' own since it began, in all
/// filters: to see that the work of an insert stays within its bound.
///
/// ```
/// use malkoha::CuckooFilter;
/// use malkoha::tables::{most_places, places_looked_at};
///
/// let mut filter = CuckooFilter::with_capacity(1_000, 0.01)?;
/// for key in 0..2_000_u64 {
///     let before = places_looked_at();
///     let _ = filter.insert(key);
///     assert!(places_looked_at() - before <= most_places(filter.max_kicks()));
/// }
/// # Ok::<(), malkoha::BuildError>(())
/// ```
#[cfg(feature = "std")]
#[must_use]
pub fn places_looked_at() -> u64 {
    LOOKED_AT.get()
}
