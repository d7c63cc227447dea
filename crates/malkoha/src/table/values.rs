//! The values of a table of fixed size. They lie beside their fingerprints, in lanes.

use core::ops::Deref;

use crate::addressing::Probe;
use crate::layout::TableLayout;
use crate::spill::SpillKey;
use crate::table::batch;
use crate::table::fixed::Fixed;
use crate::table::traits::Candidates;

impl<B: Deref<Target = [u8]>> Fixed<B> {
    #[inline(always)]
    fn values_of(&self, probe: &Probe) -> impl Iterator<Item = (u64, u64)> + use<'_, B> {
        let lanes = self.kernel.lanes();
        // What is spilled has an equal fingerprint in the table.
        let has_spilled = !self.spill.is_empty() && lanes.count(&self.bytes, probe) > 0;
        let spilled = has_spilled.then(|| self.spill.values(SpillKey::of(probe, 0)));
        lanes
            .found(&self.bytes, probe)
            .map(|(_, slot)| (slot.value, 1))
            .chain(spilled.into_iter().flatten())
    }
}

impl<B: Deref<Target = [u8]>> Candidates for Fixed<B> {
    #[inline]
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        self.values_of(&self.kernel.lanes().probe(hash))
    }

    #[inline]
    fn for_each_candidate(&self, hash: u64, mut each: impl FnMut(u64, u64)) {
        self.candidates(hash).for_each(|(value, copies)| each(value, copies));
    }

    fn candidates_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64, u64)) {
        let lanes = self.kernel.lanes();
        batch::pipelined(lanes, &mut &*self.bytes, hashes, 0, |_, i, probe| {
            self.values_of(probe).for_each(|(value, copies)| each(i, value, copies));
        });
    }

    fn count_value(&self, hash: u64, value: u64) -> u64 {
        let lanes = self.kernel.lanes();
        let probe = lanes.probe(hash);
        let in_table = u64::from(lanes.copies(&self.bytes, &probe, value));
        in_table.saturating_add(self.spill.count(&SpillKey::of(&probe, value)))
    }
}
