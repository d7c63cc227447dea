//! Many keys at once: their lines are requested long before they are looked at.

use super::table::Table;
use crate::addressing::Probe;
use crate::arch::vectorized;
use crate::locks::Locking;
use crate::ring::{self, GROUP};
use crate::sync::{AtomicU64, Ordering};

/// Lookups that are one operation where a filter has one lock.
const WHOLE: usize = 1024;

/// Lookups for which less than a group's memory is cleared.
const FEW: usize = 4;

/// The bucket words and fingerprints of a group of lookups.
#[derive(Clone, Copy, Default)]
pub(super) struct Aims {
    buckets: [[usize; GROUP]; 2],
    fingerprints: [u64; GROUP],
    stripes: [usize; GROUP],
}

impl Aims {
    /// Notes number `i`.
    #[inline(always)]
    pub(super) fn set<P: Locking>(&mut self, i: usize, table: &Table<P>, probe: &Probe) {
        let [first, second] = table.buckets.numbers(probe);
        (self.buckets[0][i], self.buckets[1][i]) = (first, second);
        self.fingerprints[i] = probe.fingerprint;
        self.stripes[i] = table.stripe_number(probe.segment, probe.fingerprint);
    }
}

vectorized! {
    /// Whether each hash's fingerprint is in the table. `found` is as long as `hashes`.
    fn contains[P: Locking](table: &Table<P>, hashes: &[u64], found: &mut [bool]) {
        let (mut ring, mut room) = ([Aims::default(); ring::SLOTS], [0; GROUP]);
        for (ask, look) in ring::schedule(hashes.len()) {
            if let Some(group) = ask {
                let aims = &mut ring[group.slot()];
                let hashes = ring::whole(&hashes[group.first()..], &mut room);
                for (i, &hash) in hashes.iter().enumerate() {
                    aims.set(i, table, &table.probe(hash));
                }
                if look.is_none() {
                    (0..GROUP).for_each(|i| table.ask(aims, i));
                }
            }
            if let Some(group) = look {
                let aims = &ring[group.slot()];
                // Behind the last group, lines that are there already.
                let asked = &ring[ask.unwrap_or(group).slot()];
                let rest = &mut found[group.first()..];
                if let Some(found) = rest.first_chunk_mut::<GROUP>() {
                    table.look(aims, asked, found);
                } else {
                    table.look(aims, asked, rest);
                }
            }
        }
    }
}

impl<P: Locking> Table<P> {
    /// Whether each hash's fingerprint is in the table.
    pub(super) fn contains_many(&self, hashes: &[u64], found: &mut [bool]) {
        for (hashes, found) in hashes.chunks(WHOLE).zip(found.chunks_mut(WHOLE)) {
            self.hold(|table| match hashes.len() {
                len if len <= FEW => table.contains_few::<FEW>(hashes, found),
                len if len <= GROUP => table.contains_few::<GROUP>(hashes, found),
                _ => contains(table, hashes, found),
            });
        }
    }

    /// The same for at most `N` hashes. To clear memory for the groups on their way would take
    /// longer than a few lookups.
    #[inline(never)]
    fn contains_few<const N: usize>(&self, hashes: &[u64], found: &mut [bool]) {
        let mut probes = [Probe::default(); N];
        for (probe, &hash) in probes.iter_mut().zip(hashes) {
            *probe = self.requested(hash);
        }
        for (found, probe) in found.iter_mut().zip(&probes) {
            *found = self.contains(probe);
        }
    }

    /// Requests the lines of number `i`.
    #[inline(always)]
    fn ask(&self, aims: &Aims, i: usize) {
        self.buckets.prefetch(aims.buckets[0][i]);
        self.buckets.prefetch(aims.buckets[1][i]);
    }

    /// [`contains`](Self::contains) for as many hashes as `found` has places. All are compared at
    /// once; if the version of one changed in between, those not found are looked up one by one.
    ///
    /// Requests the lines of `asked` one by one on the way: a processor waits where too many are
    /// requested together, and memory where none are.
    #[inline(always)]
    pub(super) fn look(&self, aims: &Aims, asked: &Aims, found: &mut [bool]) {
        let load = |word: &AtomicU64| word.load(Ordering::Acquire);
        let buckets = self.buckets.all();
        let (mut words, mut changes) = ([[0; GROUP]; 2], 0);
        for i in 0..found.len().min(GROUP) {
            self.ask(asked, i);
            let version = &self.stripes[aims.stripes[i]].0.version;
            let before = load(version);
            for (words, numbers) in words.iter_mut().zip(&aims.buckets) {
                words[i] = load(&buckets[numbers[i]]);
            }
            changes |= load(version) ^ before;
        }
        for (i, found) in found.iter_mut().enumerate() {
            let fingerprint = aims.fingerprints[i];
            let [first, second] = [words[0][i], words[1][i]];
            *found = self.lanes.matches(first, fingerprint)
                | self.lanes.matches(second, fingerprint)
                != 0;
        }
        if changes != 0 {
            self.look_alone(aims, found);
        }
    }

    /// Looks again for those that were not found.
    #[cold]
    #[inline(never)]
    pub(super) fn look_alone(&self, aims: &Aims, found: &mut [bool]) {
        for (i, found) in found.iter_mut().enumerate().filter(|(_, found)| !**found) {
            let buckets = [0, 1].map(|which| self.buckets.bucket(aims.buckets[which][i]));
            *found = self.is_in(&self.stripes[aims.stripes[i]].0, buckets, aims.fingerprints[i]);
        }
    }

    /// The probe of a hash, whose lines are requested.
    #[inline(always)]
    pub(super) fn requested(&self, hash: u64) -> Probe {
        let probe = self.probe(hash);
        for number in self.buckets.numbers(&probe) {
            self.buckets.prefetch(number);
        }
        probe
    }

    /// Calls `step` with each hash's probe and position, after the lines that it needs were
    /// requested.
    #[inline(always)]
    pub(super) fn pipelined(&self, hashes: &[u64], mut step: impl FnMut(usize, &Probe)) {
        let ask = |table: &&Self, hash| table.requested(hash);
        ring::one_by_one(&mut { self }, hashes, ask, |_, i, _, probe| step(i, probe));
    }
}
