//! A table: bytes, and the layout that makes sense of them. Knows hashes, but no keys.

pub(crate) mod batch;
pub(crate) mod memory;
mod partition;

pub use memory::Memory;
pub(crate) use memory::zeroed;
#[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
pub(crate) use memory::{MAPPED_FROM, mapped};

use std::ops::{Deref, DerefMut};

use crate::entries::{self, Entry};
use crate::error::BuildError;
use crate::geometry::{Geometry, Layout};
use crate::layout::{Copies, GapWindows, Lanes, Search, SemiSorted, Swar, TableLayout, copies};
use crate::spill::{Spill, SpillKey};

/// The layouts, each for words that hold a whole bucket or window of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    /// Buckets of a whole number of bytes: the common widths, such as 4 slots of 8, 12 or 16 bits.
    BucketedBytes64(Swar<u64, true>),
    Bucketed64(Swar<u64, false>),
    Bucketed128(Swar<u128, false>),
    BucketedLanes(Lanes),
    SemiSorted64(SemiSorted<u64>),
    SemiSorted128(SemiSorted<u128>),
    GapWindows64(GapWindows<u64>),
    GapWindows128(GapWindows<u128>),
}

/// Runs one expression with the layout's own type, so that it is compiled once for each.
macro_rules! with_layout {
    ($kernel:expr, $layout:ident => $body:expr) => {
        match $kernel {
            Kernel::BucketedBytes64($layout) => $body,
            Kernel::Bucketed64($layout) => $body,
            Kernel::Bucketed128($layout) => $body,
            Kernel::BucketedLanes($layout) => $body,
            Kernel::SemiSorted64($layout) => $body,
            Kernel::SemiSorted128($layout) => $body,
            Kernel::GapWindows64($layout) => $body,
            Kernel::GapWindows128($layout) => $body,
        }
    };
}

impl Kernel {
    fn new(geometry: &Geometry) -> Self {
        // The first that fits is the fastest.
        let kernel = match geometry.layout {
            Layout::Bucketed { .. } | Layout::Words => Swar::new(geometry)
                .map(Self::BucketedBytes64)
                .or_else(|| Swar::new(geometry).map(Self::Bucketed64))
                .or_else(|| Swar::new(geometry).map(Self::Bucketed128)),
            Layout::SemiSorted => SemiSorted::new(geometry)
                .map(Self::SemiSorted64)
                .or_else(|| SemiSorted::new(geometry).map(Self::SemiSorted128)),
            Layout::GapWindows => GapWindows::new(geometry)
                .map(Self::GapWindows64)
                .or_else(|| GapWindows::new(geometry).map(Self::GapWindows128)),
        };
        // Only buckets of eight wide slots are wider than 128 bits.
        kernel.unwrap_or_else(|| Self::BucketedLanes(Lanes::new(geometry)))
    }
}

/// `B` is the bytes' owner: [`Memory`], a slice, or a mapped file.
#[derive(Clone, Debug)]
pub(crate) struct Table<B> {
    bytes: B,
    geometry: Geometry,
    kernel: Kernel,
    search: Search,
    spill: Spill,
}

impl Table<Memory> {
    pub(crate) fn new(geometry: Geometry) -> Result<Self, BuildError> {
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        Ok(Self::from_bytes(memory, geometry))
    }

    /// A copy, if the system has memory for it.
    pub(crate) fn try_clone(&self) -> Option<Self> {
        let bytes = self.bytes.try_clone()?;
        Some(Self { spill: self.spill.clone(), ..Self::from_bytes(bytes, self.geometry) })
    }
}

impl<B: Deref<Target = [u8]>> Table<B> {
    /// `bytes` has exactly `geometry.table_bytes()` bytes.
    pub(crate) fn from_bytes(bytes: B, geometry: Geometry) -> Self {
        assert_eq!(u64::try_from(bytes.len()).ok(), geometry.table_bytes(), "table length");
        let search = Search::of_table(bytes.len());
        Self { kernel: Kernel::new(&geometry), search, bytes, geometry, spill: Spill::default() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The owner of the bytes.
    #[cfg(feature = "mmap")]
    pub(crate) fn owner(&self) -> &B {
        &self.bytes
    }

    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        // The layouts of ordinary widths are inlined into the caller's loop; inlining all of them
        // would make every lookup save and restore the registers that the widest needs.
        match &self.kernel {
            Kernel::BucketedBytes64(layout) => self.contains_in(layout, hash),
            Kernel::GapWindows64(layout) => self.contains_in(layout, hash),
            _ => self.contains_in_others(hash),
        }
    }

    #[inline(never)]
    fn contains_in_others(&self, hash: u64) -> bool {
        with_layout!(&self.kernel, layout => self.contains_in(layout, hash))
    }

    #[inline(always)]
    fn contains_in<L: TableLayout>(&self, layout: &L, hash: u64) -> bool {
        let aim = layout.aim(&layout.probe(hash));
        // SAFETY: the table has its geometry's length, as `from_bytes` asserted; the layout was
        // made for that geometry, and the aim is the layout's.
        unsafe { layout.contains(&self.bytes, &aim) }
    }

    #[inline]
    pub(crate) fn count(&self, hash: u64) -> u64 {
        with_layout!(&self.kernel, layout => {
            let probe = layout.probe(hash);
            let in_table = u64::from(layout.count(&self.bytes, &probe));
            if self.spill.is_empty() {
                return in_table;
            }
            in_table.saturating_add(self.spill.count(&SpillKey::of(&probe, 0)))
        })
    }

    /// Adds copies that a file has beside its table; `false`, and nothing is added, if the table
    /// has none of them.
    pub(crate) fn add_spilled(&mut self, key: SpillKey, copies: u64) -> bool {
        let equals = with_layout!(&self.kernel, layout => {
            let probe = layout.addressing().resident(key.segment, key.place, key.fingerprint);
            probe.map_or(0, |probe| layout.count(&self.bytes, &probe))
        });
        let can_be = equals > 0 && key.value == 0;
        if can_be {
            self.spill.add(key, copies);
        }
        can_be
    }

    /// Copies that are not in the table.
    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Whether each hash's fingerprint is in the table.
    pub(crate) fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        with_layout!(&self.kernel, layout => {
            // SAFETY: as in `contains_in`.
            unsafe { batch::contains(layout, &self.bytes, hashes, found) }
        });
    }

    /// The occupied slots, then the spilled copies.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        let places = with_layout!(&self.kernel, layout => layout.places());
        entries::entries(self.geometry.segments, places, &self.spill, |segment, places| {
            with_layout!(&self.kernel, layout => {
                entries::of_places(layout, &self.bytes, segment, places)
            })
        })
    }

    /// Occupied slots, counted one by one.
    pub(crate) fn occupied(&self) -> u64 {
        let segments = u64::from(self.geometry.segments);
        let bases = (0..segments).map(|segment| segment * self.geometry.segment_bytes());
        // The table is in memory, so a segment's offset fits usize.
        let bases = bases.map(|base| usize::try_from(base).expect("in memory"));
        with_layout!(&self.kernel, layout => {
            bases.map(|base| layout.occupied(&self.bytes, base)).sum()
        })
    }
}

impl<B: DerefMut<Target = [u8]>> Table<B> {
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, max_kicks: u32) -> bool {
        with_layout!(&self.kernel, layout => {
            let (bytes, room) = (&mut self.bytes, (&mut self.search, &mut self.spill));
            copies::insert(layout, bytes, room, (&layout.probe(hash), 0), max_kicks)
        })
    }

    #[inline]
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        with_layout!(&self.kernel, layout => {
            copies::remove(layout, &mut self.bytes, &mut self.spill, &layout.probe(hash))
        })
    }

    /// Inserts all that is in another table of the same geometry. Returns how many copies that are;
    /// `None`, when it did not fit, and some of it is in.
    pub(crate) fn absorb<C>(
        &mut self,
        other: &Table<C>,
        copies: Copies,
        max_kicks: u32,
    ) -> Option<u64>
    where
        C: Deref<Target = [u8]>,
    {
        debug_assert!(self.geometry == other.geometry);
        let (bytes, search, spill) = (&mut *self.bytes, &mut self.search, &mut self.spill);
        with_layout!(&self.kernel, layout => {
            let from = (&*other.bytes, &other.spill);
            copies::absorb(layout, bytes, (search, spill), from, (copies, max_kicks))
        })
    }

    /// Takes out all that is not in another table of the same geometry.
    pub(crate) fn retain<C: Deref<Target = [u8]>>(&mut self, other: &Table<C>) {
        debug_assert!(self.geometry == other.geometry);
        with_layout!(&self.kernel, layout => {
            copies::retain(layout, &mut self.bytes, &mut self.spill, &other.bytes);
        });
    }

    /// Hashes to hand to `insert_batch` at a time: enough to fill segments in cache.
    pub(crate) fn hashes_a_round(&self) -> usize {
        self.geometry.segments as usize * partition::HASHES_A_SEGMENT
    }

    /// Inserts all hashes; calls `refused(i)` for each that found no place. Uses up to `threads`
    /// threads where there is work for them.
    pub(crate) fn insert_batch(
        &mut self,
        hashes: &[u64],
        max_kicks: u32,
        threads: usize,
        mut refused: impl FnMut(usize),
    ) {
        let plan = partition::Plan::new(&self.geometry, hashes.len(), threads);
        let (bytes, search, spill) = (&mut *self.bytes, &mut self.search, &mut self.spill);
        with_layout!(&self.kernel, layout => match plan {
            Some(plan) => {
                partition::insert(layout, (bytes, spill), hashes, max_kicks, &plan, refused);
            }
            None => {
                let room = (search, spill);
                batch::insert(layout, bytes, room, hashes, (0, max_kicks), &mut refused);
            }
        });
    }

    /// Calls `answer(i, removed)` for each hash, in order.
    #[inline]
    pub(crate) fn remove_batch(&mut self, hashes: &[u64], answer: impl FnMut(usize, bool)) {
        with_layout!(&self.kernel, layout => {
            batch::remove(layout, (&mut self.bytes, &mut self.spill), hashes, answer);
        });
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.fill(0);
        self.spill.clear();
    }
}

// After the macro that they use.
#[cfg(test)]
mod tests;
