//! Lookups in a table of fixed size, the values of its maps, and its figures. A value lies in the
//! lane of its fingerprint.

use alloc::vec::Vec;
use core::ops::Deref;

use crate::addressing::Probe;
use crate::entries::Entry;
use crate::format::{self, FileKind};
use crate::geometry::Geometry;
use crate::io::{self, Write};
use crate::key::KeyHasher;
use crate::layout::{Lanes, Matches, Relocate, TableLayout};
use crate::params::float;
use crate::spill::SpillKey;
use crate::table::batch;
use crate::table::fixed::{AnyLayout, Fixed, with_layout};
use crate::table::traits::{Candidates, Lookup, Sealed};

impl<B> Sealed for Fixed<B> {}

impl<B: Deref<Target = [u8]>> Lookup for Fixed<B> {
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        // The layouts of ordinary widths are inlined into the caller's loop; inlining all of them
        // would make every lookup save and restore the registers that the widest needs.
        match &self.layout {
            AnyLayout::BucketedBytes64(layout) => self.contains_in(layout, hash),
            AnyLayout::GapWindows64(layout) => self.contains_in(layout, hash),
            _ => self.contains_in_others(hash),
        }
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        with_layout!(&self.layout, layout => {
            // SAFETY: as in `contains_in`.
            unsafe { batch::contains(layout, &self.bytes, hashes, found) }
        });
    }

    #[inline]
    fn count(&self, hash: u64) -> u64 {
        with_layout!(&self.layout, layout => {
            let probe = layout.probe(hash);
            let in_table = u64::from(layout.count(&self.bytes, &probe));
            if self.spill.is_empty() || in_table == 0 {
                return in_table;
            }
            in_table.saturating_add(self.spill.count_values(SpillKey::of(&probe, 0)))
        })
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        let Geometry { segments, fingerprint_bits, .. } = self.parts.geometry;
        let entry = move |key, copies| Entry::new(key, copies, fingerprint_bits);
        let slots = (0..u64::from(segments)).flat_map(move |segment| {
            let mut entries = Vec::new();
            with_layout!(&self.layout, layout => for place in 0..layout.places() {
                let occupants = layout.occupants(&self.bytes, segment, place);
                entries.extend(occupants.map(|(probe, value)| {
                    // In gap windows, that of the window, and not the slot's.
                    let place = u32::try_from(probe.first).expect("a place of a segment");
                    Entry { place, ..entry(SpillKey::of(&probe, value), 1) }
                }));
            });
            entries
        });
        slots.chain(self.spill.iter().map(move |(key, copies)| entry(key, copies)))
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        with_layout!(&self.layout, layout => {
            layout.prefetch(&self.bytes, &layout.aim(&layout.probe(hash)));
        });
    }

    #[inline]
    fn len(&self) -> u64 {
        self.parts.len
    }

    fn capacity(&self) -> u64 {
        self.parts.capacity
    }

    fn slots(&self) -> u64 {
        self.parts.geometry.slots()
    }

    fn spilled(&self) -> u64 {
        self.spill.copies()
    }

    fn size_in_bytes(&self) -> u64 {
        self.bytes.len() as u64 + self.spill.size_in_bytes()
    }

    fn fingerprint_bits(&self) -> u32 {
        self.parts.geometry.fingerprint_bits
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.parts.geometry.value_bits
    }

    fn expected_fpr(&self) -> f64 {
        let occupied = self.parts.len.saturating_sub(self.spill.copies());
        self.parts.geometry.fpr_at(float(occupied) / float(self.slots()))
    }

    fn kind(is_map: bool) -> FileKind {
        if is_map { FileKind::Map } else { FileKind::Set }
    }

    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        format::write(self, kind, hasher, writer)
    }
}

impl<B: Deref<Target = [u8]>> Fixed<B> {
    #[inline(never)]
    fn contains_in_others(&self, hash: u64) -> bool {
        with_layout!(&self.layout, layout => self.contains_in(layout, hash))
    }

    #[inline(always)]
    fn contains_in<L: TableLayout>(&self, layout: &L, hash: u64) -> bool {
        let aim = layout.aim(&layout.probe(hash));
        // SAFETY: the table has its geometry's length, as `from_bytes` asserted; the layout was
        // made for that geometry, and the aim is the layout's.
        unsafe { layout.contains::<true>(&self.bytes, &aim) }
    }

    /// The slots of a probe that hold its fingerprint.
    #[inline(always)]
    fn matches(&self, probe: &Probe) -> Matches {
        // SAFETY: the table has its geometry's length, as `from_bytes` asserted, and the lanes were
        // made for that geometry.
        unsafe { self.layout.lanes().candidates_in(&self.bytes, probe) }
    }

    /// Calls `each` with every value of a probe, and its copies.
    #[inline(always)]
    fn values_of(&self, lanes: &Lanes, probe: &Probe, mut each: impl FnMut(u64, u64)) {
        let matches = self.matches(probe);
        let spilled = self.spilled_values(probe, &matches);
        matches.for_each(|at| each(lanes.value_in(&self.bytes, at), 1));
        spilled.for_each(|(value, copies)| each(value, copies));
    }

    /// Spilled values of a probe. Every spilled copy has an equal fingerprint in the table.
    #[inline(always)]
    fn spilled_values(
        &self,
        probe: &Probe,
        matches: &Matches,
    ) -> impl Iterator<Item = (u64, u64)> + use<'_, B> {
        let any = !self.spill.is_empty() && !matches.is_empty();
        any.then(|| self.spill.values(SpillKey::of(probe, 0))).into_iter().flatten()
    }
}

impl<B: Deref<Target = [u8]>> Candidates for Fixed<B> {
    #[inline]
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        let lanes = self.layout.lanes();
        let probe = lanes.probe(hash);
        let matches = self.matches(&probe);
        let spilled = self.spilled_values(&probe, &matches);
        matches.map(move |at| (lanes.value_in(&self.bytes, at), 1)).chain(spilled)
    }

    #[inline]
    fn for_each_candidate(&self, hash: u64, each: impl FnMut(u64, u64)) {
        let lanes = self.layout.lanes();
        self.values_of(lanes, &lanes.probe(hash), each);
    }

    fn candidates_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64, u64)) {
        let lanes = self.layout.lanes();
        batch::pipelined(lanes, &mut &*self.bytes, hashes, 0, |_, i, probe| {
            self.values_of(lanes, probe, |value, copies| each(i, value, copies));
        });
    }

    fn count_value(&self, hash: u64, value: u64) -> u64 {
        let lanes = self.layout.lanes();
        let probe = lanes.probe(hash);
        let in_table = u64::from(lanes.copies(&self.bytes, &probe, value));
        in_table.saturating_add(self.spill.count(&SpillKey::of(&probe, value)))
    }
}
