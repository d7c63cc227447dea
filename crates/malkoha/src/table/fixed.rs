//! The table of fixed size: its bytes, and the layout that interprets them.

use core::ops::Deref;

use crate::error::BuildError;
use crate::geometry::{Geometry, Layout};
use crate::layout::expiring::AgedBuckets;
use crate::layout::{GapWindows, Lanes, NEVER, Relocate, Search, SemiSorted, Swar, TableLayout};
use crate::spill::{Spill, SpillKey};
use crate::table::memory::{Memory, zeroed};

/// Everything about a table but its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) geometry: Geometry,
    pub(crate) max_kicks: u32,
    pub(crate) capacity: u64,
    pub(crate) len: u64,
}

/// A table of fixed size. An insert into a full table returns an error.
///
/// `B` is where the bytes lie: [`Memory`] in a table that was built or read, which can change; a
/// byte slice or a mapped file, which can only be looked up in.
#[derive(Clone, Debug)]
pub struct Fixed<B = Memory> {
    pub(super) bytes: B,
    pub(super) layout: AnyLayout,
    pub(super) search: Search,
    pub(super) spill: Spill,
    pub(super) parts: Parts,
    /// Keys from which on a new one goes into the emptier place, alone and in a batch.
    pub(super) crowded_from: [u64; 2],
    /// How its buckets are read if its values are ages: set by `Ages::prepare`, which the only
    /// constructor of `Expiring` calls.
    pub(super) ages: Option<AgedBuckets>,
}

/// The layouts, each for words that hold a whole bucket or window of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyLayout {
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
    ($any:expr, $layout:ident => $body:expr) => {
        match $any {
            $crate::table::fixed::AnyLayout::BucketedBytes64($layout) => $body,
            $crate::table::fixed::AnyLayout::Bucketed64($layout) => $body,
            $crate::table::fixed::AnyLayout::Bucketed128($layout) => $body,
            $crate::table::fixed::AnyLayout::BucketedLanes($layout) => $body,
            $crate::table::fixed::AnyLayout::SemiSorted64($layout) => $body,
            $crate::table::fixed::AnyLayout::SemiSorted128($layout) => $body,
            $crate::table::fixed::AnyLayout::GapWindows64($layout) => $body,
            $crate::table::fixed::AnyLayout::GapWindows128($layout) => $body,
        }
    };
}
pub(crate) use with_layout;

impl AnyLayout {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        // The first that fits is the fastest.
        let layout = match geometry.layout {
            // Slots with values lie in lanes.
            _ if geometry.value_bits > 0 => None,
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
        // Buckets of eight wide slots are wider than 128 bits.
        layout.unwrap_or_else(|| Self::BucketedLanes(Lanes::new(geometry)))
    }

    /// The lanes of a map.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> &Lanes {
        match self {
            Self::BucketedLanes(lanes) => lanes,
            _ => unreachable!("slots with values lie in lanes"),
        }
    }
}

fn crowded_from<L: TableLayout>(layout: &L, geometry: &Geometry) -> [u64; 2] {
    // Maps take the first place with room.
    let fifths = if layout.has_values() { [NEVER; 2] } else { L::CROWDED };
    fifths.map(|fifths| if fifths == NEVER { NEVER } else { geometry.slots() * fifths / 5 })
}

impl Fixed {
    pub(crate) fn new(
        geometry: Geometry,
        max_kicks: u32,
        capacity: u64,
    ) -> Result<Self, BuildError> {
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        Ok(Self::from_bytes(memory, Parts { geometry, max_kicks, capacity, len: 0 }))
    }
}

impl<B: Deref<Target = [u8]>> Fixed<B> {
    /// `bytes` has exactly the bytes of the geometry's table.
    pub(crate) fn from_bytes(bytes: B, parts: Parts) -> Self {
        let geometry = &parts.geometry;
        assert_eq!(u64::try_from(bytes.len()).ok(), geometry.table_bytes(), "table length");
        let search = Search::of_table(bytes.len());
        let layout = AnyLayout::new(geometry);
        let crowded_from = with_layout!(&layout, layout => crowded_from(layout, geometry));
        Self { layout, search, bytes, spill: Spill::default(), parts, crowded_from, ages: None }
    }

    pub(crate) fn to_owned(&self) -> Result<Fixed, BuildError> {
        let bytes = self.bytes.len() as u64;
        let mut memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        memory.copy_from_slice(&self.bytes);
        Ok(Fixed { spill: self.spill.clone(), ..Fixed::from_bytes(memory, self.parts) })
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Copies that are not in the table.
    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// The owner of the bytes.
    #[cfg(feature = "mmap")]
    pub(crate) fn owner(&self) -> &B {
        &self.bytes
    }

    /// Adds spilled copies from a file; `false`, and nothing is added, if the table
    /// has none of them or they do not fit.
    pub(crate) fn add_spilled(&mut self, key: SpillKey, copies: u64) -> bool {
        let equals = with_layout!(&self.layout, layout => {
            let probe = layout.addressing().resident(key.segment, key.place, key.fingerprint);
            probe.map_or(0, |probe| layout.count(&self.bytes, &probe))
        });
        let can_be =
            equals > 0 && u64::BITS - key.value.leading_zeros() <= self.parts.geometry.value_bits;
        if can_be {
            self.spill.add(key, copies);
        }
        can_be
    }

    /// Occupied slots, counted one by one.
    pub(crate) fn occupied(&self) -> u64 {
        let segments = 0..self.parts.geometry.segments.into();
        with_layout!(&self.layout, layout => {
            segments.map(|segment| layout.occupied(&self.bytes, segment)).sum()
        })
    }

    /// The first segment whose slots no operation can have left as they are, and the byte at
    /// which it begins.
    pub(crate) fn disordered(&self) -> Option<(u64, usize)> {
        let mut segments = 0..self.parts.geometry.segments.into();
        with_layout!(&self.layout, layout => {
            let found = segments.find(|&segment| !layout.is_ordered(&self.bytes, segment));
            found.map(|segment| (segment, layout.base(segment)))
        })
    }
}

impl<A: Deref<Target = [u8]>, B: Deref<Target = [u8]>> PartialEq<Fixed<B>> for Fixed<A> {
    /// Whether the files of both would be the same.
    fn eq(&self, other: &Fixed<B>) -> bool {
        self.parts == other.parts && *self.bytes == *other.bytes && self.spill == other.spill
    }
}
