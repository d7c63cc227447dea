//! Changing a table of fixed size.

use alloc::vec::Vec;
use core::ops::Deref;

use crate::error::{InsertError, UnionError};
use crate::layout::copies::{self, Overflow};
use crate::layout::search_budget::Refusals;
use crate::layout::{Copies, Placement, TableLayout};
use crate::spill::{MAX_LEN, SpillKey};
use crate::table::batch;
use crate::table::batch::value_at;
use crate::table::fixed::{AnyLayout, Fixed, with_layout};
use crate::table::rounds::{self, Rounds};
use crate::table::traits::{Change, Fill, Lookup};

impl Fill for Fixed {
    fn rounds(&self, hashes: usize, threads: usize) -> Option<Rounds> {
        // Sorting hashes loses their positions, which values need.
        if self.value_bits() > 0 {
            return None;
        }
        Rounds::new(&self.parts.geometry, hashes, threads)
    }

    fn insert_round(&mut self, round: &mut Rounds) -> Vec<u64> {
        let hashes = round.len();
        let refused = with_layout!(&self.layout, layout => {
            rounds::insert(layout, &mut self.bytes, &mut self.spill, round, self.parts.max_kicks)
        });
        self.parts.len += (hashes - refused.len()) as u64;
        refused
    }

    fn insert_batch(&mut self, hashes: &[u64], values: &[u64]) -> Vec<usize> {
        let mut refused = Vec::new();
        let sparse = self.crowded_from[1].saturating_sub(self.parts.len);
        let sparse = usize::try_from(sparse).unwrap_or(usize::MAX);
        let (layout, bytes, mut overflow) = self.with_overflow();
        with_layout!(layout, layout => {
            // SAFETY: the bytes are the table of the layout's geometry, as `from_bytes` asserted.
            unsafe {
                batch::insert(
                    layout, bytes, &mut overflow, (hashes, values), sparse, &mut refused,
                );
            }
        });
        self.parts.len += (hashes.len() - refused.len()) as u64;
        refused
    }
}

impl Change for Fixed {
    #[inline(always)]
    fn insert(&mut self, hash: u64, value: u64) -> Result<(), InsertError> {
        if self.put(hash, value) {
            self.parts.len += 1;
            Ok(())
        } else {
            Err(self.refusal())
        }
    }

    fn insert_unique_batch(&mut self, hashes: &[u64], new: &mut [bool]) -> Vec<usize> {
        let mut refused = Vec::new();
        let Self { bytes, layout, search, spill, parts, crowded_from, .. } = self;
        let mut overflow = Overflow { search, spill, max_kicks: parts.max_kicks };
        with_layout!(layout, layout => {
            batch::pipelined(layout, &mut **bytes, hashes, 0, |bytes, i, probe| {
                // SAFETY: the bytes are the table of the layout's geometry, as `from_bytes`
                // asserted, and the aim is the layout's.
                new[i] = unsafe { !layout.contains::<true>(bytes, &layout.aim(probe)) };
                if !new[i] {
                    return;
                }
                let is_sparse = parts.len < crowded_from[1];
                // SAFETY: as above.
                if unsafe { copies::insert_as(layout, bytes, &mut overflow, probe, 0, is_sparse) } {
                    parts.len += 1;
                } else {
                    new[i] = false;
                    refused.push(i);
                }
            });
        });
        refused
    }

    #[cold]
    fn refusal(&self) -> InsertError {
        InsertError::Full { len: self.parts.len, capacity: self.parts.capacity }
    }

    #[inline(always)]
    fn remove(&mut self, hash: u64, value: u64) -> bool {
        let is_short = self.search.refusals.is_any_short();
        let removed =
            if is_short { self.take_and_count(hash, value) } else { self.take(hash, value) };
        // Saturating: a damaged file may claim fewer keys than its table holds.
        self.parts.len = self.parts.len.saturating_sub(removed.into());
        removed
    }

    #[inline]
    fn remove_batch(&mut self, hashes: &[u64], values: &[u64], removed: &mut [bool]) {
        if self.search.refusals.is_any_short() {
            for (i, &hash) in hashes.iter().enumerate() {
                removed[i] = self.remove(hash, value_at(values, i));
            }
            return;
        }
        let (bytes, spill, len) = (&mut *self.bytes, &mut self.spill, &mut self.parts.len);
        with_layout!(&self.layout, layout => {
            batch::pipelined(layout, bytes, hashes, 0, |bytes, i, probe| {
                removed[i] = copies::remove(layout, bytes, spill, probe, value_at(values, i));
                *len = len.saturating_sub(removed[i].into());
            });
        });
    }

    fn update(&mut self, hash: u64, old: u64, new: u64) -> bool {
        let lanes = *self.layout.lanes();
        let probe = lanes.probe(hash);
        if let Some(position) = lanes.position(&self.bytes, &probe, old) {
            lanes.set_value(&mut self.bytes, position, new);
            return true;
        }
        let spilled = self.spill.take(&SpillKey::of(&probe, old));
        if spilled {
            self.spill.add(SpillKey::of(&probe, new), 1);
        }
        spilled
    }

    fn clear(&mut self) {
        self.bytes.fill(0);
        self.spill.clear();
        self.search.refusals = Refusals::new();
        self.parts.len = 0;
    }
}

impl Fixed {
    /// Inserts a copy that is not counted yet. The layouts of ordinary widths are inlined into the
    /// caller, as for lookups, but without what is done for keys that get no slot at once.
    #[inline(always)]
    fn put(&mut self, hash: u64, value: u64) -> bool {
        let (bytes, is_sparse) = (&mut *self.bytes, self.parts.len < self.crowded_from[0]);
        // SAFETY: the bytes are the table of the layout's geometry, as `from_bytes` asserted.
        let placement = unsafe {
            match &self.layout {
                AnyLayout::BucketedBytes64(layout) => at_once(layout, bytes, hash, is_sparse),
                AnyLayout::GapWindows64(layout) => at_once(layout, bytes, hash, is_sparse),
                _ => return self.put_in_others(hash, value),
            }
        };
        placement == Some(Placement::Taken) || self.put_refused(hash, placement)
    }

    /// [`put`](Self::put) of a key of a set that got no slot at once.
    #[cold]
    #[inline(never)]
    fn put_refused(&mut self, hash: u64, placement: Option<Placement>) -> bool {
        let (layout, bytes, mut overflow) = self.with_overflow();
        with_layout!(layout, layout => {
            let probe = layout.probe(hash);
            match placement {
                Some(placement) => {
                    copies::insert_refused(layout, bytes, &mut overflow, &probe, 0, placement)
                }
                None => copies::insert(layout, bytes, &mut overflow, &probe, 0),
            }
        })
    }

    #[inline(never)]
    fn put_in_others(&mut self, hash: u64, value: u64) -> bool {
        let is_sparse = self.parts.len < self.crowded_from[0];
        let (layout, bytes, mut overflow) = self.with_overflow();
        with_layout!(layout, layout => {
            let probe = layout.probe(hash);
            // SAFETY: as in `put`.
            unsafe { copies::insert_as(layout, bytes, &mut overflow, &probe, value, is_sparse) }
        })
    }

    /// The layout, its bytes, and what handles keys that they do not take at once.
    fn with_overflow(&mut self) -> (&AnyLayout, &mut [u8], Overflow<'_>) {
        let Self { bytes, layout, search, spill, parts, .. } = self;
        (layout, bytes, Overflow { search, spill, max_kicks: parts.max_kicks })
    }

    /// Removes a copy; the caller changes `len`, as with [`put`](Self::put).
    #[inline(always)]
    fn take(&mut self, hash: u64, value: u64) -> bool {
        let Self { layout, bytes, spill, .. } = self;
        match layout {
            AnyLayout::BucketedBytes64(layout) => {
                copies::remove(layout, bytes, spill, &layout.probe(hash), value)
            }
            AnyLayout::GapWindows64(layout) => {
                copies::remove(layout, bytes, spill, &layout.probe(hash), value)
            }
            _ => self.take_from_others(hash, value),
        }
    }

    #[inline(never)]
    fn take_from_others(&mut self, hash: u64, value: u64) -> bool {
        with_layout!(&self.layout, layout => {
            let probe = layout.probe(hash);
            copies::remove(layout, &mut self.bytes, &mut self.spill, &probe, value)
        })
    }

    /// [`take`](Self::take) if segments have short budgets: the removal counts for its own segment.
    /// The caller checks first, so that nothing is kept in registers if all budgets are whole.
    #[cold]
    #[inline(never)]
    fn take_and_count(&mut self, hash: u64, value: u64) -> bool {
        let removed = self.take(hash, value);
        if removed {
            let segment = with_layout!(&self.layout, layout => layout.probe(hash).segment);
            self.search.refusals.removed(segment);
        }
        removed
    }

    /// Adds the content of another table of the same geometry. If it does not fit, this is an error
    /// and nothing has changed.
    pub(crate) fn unite<B: Deref<Target = [u8]>>(
        &mut self,
        other: &Fixed<B>,
        copies: Copies,
    ) -> Result<(), UnionError> {
        let all = self.parts.len.checked_add(other.parts.len).filter(|&len| len <= MAX_LEN);
        all.ok_or(UnionError::Copies)?;
        // In a copy, since taking out what was added would not give the old bytes back.
        self.check_geometry(other)?;
        let bytes = self.bytes.len() as u64;
        let mut union = self.to_owned().map_err(|_| UnionError::Memory { bytes })?;
        let (layout, bytes, mut overflow) = union.with_overflow();
        let added = with_layout!(layout, layout => {
            copies::absorb(layout, bytes, &mut overflow, &other.bytes, &other.spill, copies)
        });
        let keys = self.parts.len + other.parts.len;
        let refusal = UnionError::Full { keys, capacity: self.parts.capacity };
        union.parts.len += added.ok_or(refusal)?;
        *self = union;
        Ok(())
    }

    /// Removes everything that is not in another table of the same geometry.
    pub(crate) fn retain<B>(&mut self, other: &Fixed<B>) -> Result<(), UnionError>
    where
        B: Deref<Target = [u8]>,
    {
        self.check_geometry(other)?;
        with_layout!(&self.layout, layout => {
            copies::retain(layout, &mut self.bytes, &mut self.spill, &other.bytes);
        });
        self.parts.len = self.occupied().saturating_add(self.spill.copies());
        self.search.refusals = Refusals::new();
        Ok(())
    }

    /// An error if another table has another geometry.
    pub(super) fn check_geometry<B>(&self, other: &Fixed<B>) -> Result<(), UnionError> {
        let is_alike = self.parts.geometry == other.parts.geometry;
        is_alike.then_some(()).ok_or(UnionError::Different("geometry"))
    }
}

/// Offers a key of a set to its slots, or to the first place alone: `None` if that refused it.
///
/// # Safety
///
/// `bytes` is a table of the layout's geometry.
#[inline(always)]
unsafe fn at_once<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    hash: u64,
    is_sparse: bool,
) -> Option<Placement> {
    let probe = layout.probe(hash);
    let aim = layout.aim(&probe);
    // SAFETY: the caller vouches for the table, and the aim is the layout's.
    unsafe {
        if is_sparse {
            layout.try_place_first(bytes, &aim).then_some(Placement::Taken)
        } else {
            Some(layout.try_place_emptier(bytes, &aim, || probe))
        }
    }
}
