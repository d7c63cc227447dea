//! The values of a table of fixed size. They lie beside their fingerprints, in lanes.

use core::ops::Deref;

use crate::addressing::Probe;
use crate::layout::{Lanes, Matches, TableLayout};
use crate::spill::SpillKey;
use crate::table::batch;
use crate::table::fixed::Fixed;
use crate::table::traits::Candidates;

impl<B: Deref<Target = [u8]>> Fixed<B> {
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

    /// Spilled values of a probe. What is spilled has an equal fingerprint in the table.
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
