//! Keys that are not in the part that they belong to: in the spill list, because a crowd of keys
//! leaves them no place, or in a table below, because the part is full and cannot be split.
//!
//! A part is marked before it has any, and no key moves from one of these places to another. A
//! stripe's lock excludes other changes of its keys below, too: threads take locks of one level,
//! and then those of the next.

use std::sync::OnceLock;

use super::insert::Unique;
use super::space::{BELOW, Buckets, Deep, Extent, InParts, STASH};
use super::table::Table;
use super::target::Target;
use crate::geometry::Geometry;
use crate::locks::{Exclude, Locking};
use crate::params;

pub(super) type Child<P> = Table<P, InParts<Deep>>;

/// A part's place for a table below it.
type Slot<P> = OnceLock<Box<Child<P>>>;

/// The tables below the parts of one, by the parts' names.
#[derive(Debug)]
pub(super) struct Below<P: Locking> {
    tables: OnceLock<Box<[Slot<P>]>>,
}

impl<P: Locking> Default for Below<P> {
    fn default() -> Self {
        Self { tables: OnceLock::new() }
    }
}

impl<P: Locking, S: Buckets> Table<P, S> {
    /// The table below the part that the key belongs to.
    fn child(&self, target: &Target) -> Option<&Child<P>> {
        let name = self.space.name(target.segment, target.fingerprint);
        self.below.tables.get()?.get(name)?.get().map(|child| &**child)
    }

    /// All tables below, with the names of their parts.
    pub(super) fn children(&self) -> impl Iterator<Item = (usize, &Child<P>)> {
        let tables = self.below.tables.get().into_iter().flatten().enumerate();
        tables.filter_map(|(name, child)| child.get().map(|child| (name, &**child)))
    }

    /// Whether the key is in the places that `beyond` names.
    #[cold]
    #[inline(never)]
    pub(super) fn is_beyond(&self, target: &Target, beyond: u64) -> bool {
        let is_below = |child: &Child<P>| child.contains(&child.space.target(target));
        (beyond & STASH != 0 && self.count_spilled(target) > 0)
            || (beyond & BELOW != 0 && self.child(target).is_some_and(is_below))
    }

    /// Copies in tables below.
    pub(super) fn count_below(&self, target: &Target) -> u64 {
        self.child(target).map_or(0, |child| child.count(&child.space.target(target)))
    }

    /// Takes a copy out of a table below.
    pub(super) fn remove_below(&self, target: &Target) -> bool {
        self.child(target).is_some_and(|child| child.remove(&child.space.target(target)))
    }

    /// Inserts a key into the table below its part. `false`: the system does not give the memory.
    pub(super) fn insert_below(&self, target: &Target, max_kicks: u32) -> bool {
        let insert = |child: &Child<P>| child.insert(&child.space.target(target), max_kicks);
        self.child(target).is_some_and(insert)
    }

    /// The same unless it is in.
    pub(super) fn insert_unique_below(&self, target: &Target, max_kicks: u32) -> Option<Unique> {
        self.stripe(target.segment, target.fingerprint).lock.with(|| {
            if self.is_seen(target) {
                return Some(Unique::Present);
            }
            let child = self.child(target)?;
            child.insert_unique(&child.space.target(target), max_kicks)
        })
    }

    /// Opens a table below a part that is full and cannot be split; further keys go there, or to
    /// the spill list where there can be none. Answers whether to try again.
    #[cold]
    pub(super) fn open_below(&self, full: Extent) -> bool {
        let (geometry, doublings) = self.space.shape_below(&self.geometry);
        let child = self.space.below(full.name, &geometry, doublings).and_then(|mut space| {
            space.add(Extent { name: 0, span: doublings.into() })?;
            Some(Table::new(geometry, space))
        });
        match child {
            Some(child) => self.attach(full.name, child),
            None => self.space.mark(full, STASH),
        }
    }

    /// Puts a table below the part with this name, which cannot be split, unless another thread
    /// has.
    pub(super) fn attach(&self, name: usize, child: Child<P>) -> bool {
        let names = self.space.names();
        let tables =
            self.below.tables.get_or_init(|| (0..names).map(|_| OnceLock::new()).collect());
        let _ = tables[name].set(Box::new(child));
        self.space.mark(Extent { name, span: 0 }, BELOW)
    }

    /// Spilled copies, with those of all tables below.
    pub(super) fn all_spilled(&self) -> u64 {
        let below = self.children().map(|(_, child)| child.all_spilled());
        below.fold(self.spilled(), u64::saturating_add)
    }

    /// Slots, with those of all tables below.
    pub(super) fn all_slots(&self) -> u64 {
        self.slots() + self.children().map(|(_, child)| child.all_slots()).sum::<u64>()
    }

    /// Bytes, with those of all tables below.
    pub(super) fn all_bytes(&self) -> u64 {
        let lists = self.below.tables.get().map_or(0, |tables| size_of_val(&**tables) as u64);
        let child = |child: &Child<P>| size_of_val(child) as u64 + child.all_bytes();
        let below = self.children().map(|(_, table)| child(table)).sum::<u64>();
        self.size_in_bytes() + lists + below
    }

    /// The false-positive rate when this share of the slots is occupied: that of this table, and of
    /// each below for its share of the keys.
    pub(super) fn fpr(&self, load: f64) -> f64 {
        let below: f64 = self.children().map(|(_, child)| child.fpr(load)).sum();
        let Geometry { layout, fingerprint_bits, .. } = self.geometry;
        // Parts with tables below them are full, nearly all at the same time.
        let own = if below > 0.0 { load.max(layout.load(fingerprint_bits)) } else { load };
        self.space.fpr(&self.geometry, own) + below / params::float(self.space.names() as u64)
    }

    /// Whether another table has the same in the same slots, while no thread changes them.
    pub(super) fn is_same<Q: Locking, R: Buckets>(&self, other: &Table<Q, R>) -> bool {
        self.geometry == other.geometry
            && self.pieces().eq(other.pieces())
            && self.children().map(|(name, _)| name).eq(other.children().map(|(name, _)| name))
            && self.children().zip(other.children()).all(|(a, b)| a.1.is_same(b.1))
    }
}
