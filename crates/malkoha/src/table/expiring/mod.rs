//! A table of fixed size whose values are ages.
//!
//! A block is [`BLOCK`] buckets of a segment. Blocks are swept before they are changed, and the
//! search for room treats an expired slot as free. So nothing waits for a sweep.

mod slots;

use slots::Slots;

use alloc::vec::Vec;

use crate::addressing::{Probe, every_place, index};
use crate::error::UnionError;
use crate::expiry::{Ages, Times};
use crate::layout::bits::Word;
use crate::layout::expiring::{AgedBuckets, ExpiringBuckets, MOST_BITS};
use crate::layout::{Relocate, TableLayout};
use crate::params::float;
use crate::ring;
use crate::table::fixed::Fixed;

/// Buckets that are swept together: an epoch of 64 bits for each block is a quarter of a bit per
/// slot.
const BLOCK: u64 = 64;

macro_rules! with_buckets {
    ($table:expr, $buckets:ident => $body:expr) => {
        match $table.ages {
            Some(AgedBuckets::Narrow($buckets)) => $body,
            Some(AgedBuckets::Wide($buckets)) => $body,
            None => unreachable!("it was prepared for ages"),
        }
    };
}

impl Fixed {
    /// The most bits of a fingerprint for this many bits of age.
    pub(crate) const fn most_fingerprint_bits(age_bits: u32) -> u32 {
        MOST_BITS - age_bits
    }
}

impl Ages for Fixed {
    fn prepare(&mut self) -> bool {
        let geometry = &self.parts.geometry;
        let narrow = ExpiringBuckets::new(geometry).map(AgedBuckets::Narrow);
        self.ages = narrow.or_else(|| ExpiringBuckets::new(geometry).map(AgedBuckets::Wide));
        self.ages.is_some() && self.spill.is_empty()
    }

    fn blocks(&self) -> usize {
        let blocks = u64::from(self.parts.geometry.places).div_ceil(BLOCK);
        let blocks = u64::from(self.parts.geometry.segments) * blocks;
        usize::try_from(blocks).expect("fewer than the bytes of the table")
    }

    #[inline]
    fn age(&self, times: &Times, hash: u64) -> Option<u64> {
        with_buckets!(self, buckets => {
            age_of(&buckets, &self.bytes, times, &buckets.words.probe(hash))
        })
    }

    fn lives(&self, times: &Times, hashes: &[u64], found: &mut [bool]) {
        with_buckets!(self, buckets => {
            let ask = |bytes: &&[u8], hash: u64| requested(&buckets, bytes, hash);
            ring::one_by_one(&mut &*self.bytes, hashes, ask, |bytes, i, _, probe| {
                found[i] = age_of(&buckets, bytes, times, probe).is_some();
            });
        });
    }

    #[inline]
    fn see(
        &mut self,
        times: &mut Times,
        hashes: &[u64],
        refresh: bool,
        new: &mut [bool],
    ) -> Vec<usize> {
        let mut refused = Vec::new();
        with_buckets!(self, buckets => {
            let (mut slots, label) = (Slots::of(self, buckets), times.label());
            let mut see = |slots: &mut Slots<'_, _>, i: usize, probe: &Probe| {
                let seen = slots.see(times, probe, label, |_, _| refresh);
                new[i] = seen.unwrap_or_else(|| {
                    refused.push(i);
                    false
                });
            };
            if let [hash] = hashes {
                see(&mut slots, 0, &buckets.words.probe(*hash));
                return refused;
            }
            let ask = |slots: &Slots<'_, _>, hash: u64| requested(&buckets, slots.bytes, hash);
            ring::one_by_one(&mut slots, hashes, ask, |slots, i, _, probe| see(slots, i, probe));
        });
        refused
    }

    fn forget(&mut self, times: &mut Times, hash: u64) -> bool {
        with_buckets!(self, buckets => {
            Slots::of(self, buckets).forget(times, &buckets.words.probe(hash))
        })
    }

    fn sweep(&mut self, times: &mut Times) {
        with_buckets!(self, buckets => {
            let mut slots = Slots::of(self, buckets);
            for (segment, place) in places(&buckets).filter(|(_, place)| place % BLOCK == 0) {
                slots.clean(times, segment, place);
            }
        });
    }

    fn for_each_label(&self, mut each: impl FnMut(u64)) {
        with_buckets!(self, buckets => {
            for (segment, place) in places(&buckets) {
                let bucket = buckets.load(&self.bytes, buckets.words.base(segment), place);
                buckets.occupants(bucket).for_each(|(_, _, label)| each(label));
            }
        });
    }

    fn absorb(&mut self, times: &mut Times, other: &Self) -> Result<(), UnionError> {
        self.check_geometry(other)?;
        let live = times.live();
        with_buckets!(self, buckets => {
            let mut slots = Slots::of(self, buckets);
            for (segment, place) in places(&buckets) {
                let bucket = buckets.load(&other.bytes, buckets.words.base(segment), place);
                for (_, fingerprint, label) in buckets.occupants(bucket) {
                    let probe = buckets.words.addressing().occupant(segment, place, fingerprint);
                    let is_older = |times: &Times, known| times.is_older(known, label);
                    if slots.see(times, &probe, label, is_older).is_none() {
                        let keys = live + other.occupied() + other.spill.copies();
                        return Err(UnionError::Full { keys, capacity: times.capacity() });
                    }
                }
            }
            Ok(())
        })
    }

    fn fpr_of(&self, live: u64) -> f64 {
        let geometry = &self.parts.geometry;
        geometry.fpr_at(float(live) / float(geometry.slots()))
    }
}

fn places<W: Word>(buckets: &ExpiringBuckets<W>) -> impl Iterator<Item = (u64, u64)> + use<W> {
    every_place(buckets.words.addressing().segments(), buckets.words.addressing().places())
}

/// The number of the block of a place.
#[inline(always)]
fn block_of<W: Word>(buckets: &ExpiringBuckets<W>, segment: u64, place: u64) -> usize {
    let blocks = buckets.words.addressing().places().div_ceil(BLOCK);
    index(segment * blocks + place / BLOCK)
}

/// The probe of a key, the lines of whose buckets are prefetched.
#[inline(always)]
fn requested<W: Word>(buckets: &ExpiringBuckets<W>, bytes: &[u8], hash: u64) -> Probe {
    let probe = buckets.words.probe(hash);
    buckets.words.prefetch(bytes, &buckets.words.aim(&probe));
    probe
}

/// A key's places, their buckets, and the highest bit of every lane there with its fingerprint.
#[inline(always)]
fn find<W: Word>(buckets: &ExpiringBuckets<W>, bytes: &[u8], probe: &Probe) -> [(u64, W, W); 2] {
    let base = buckets.words.base(probe.segment);
    [probe.first, probe.second].map(|place| {
        let bucket = buckets.load(bytes, base, place);
        (place, bucket, buckets.matches(bucket, probe.fingerprint))
    })
}

#[inline(always)]
fn age_of<W: Word>(
    buckets: &ExpiringBuckets<W>,
    bytes: &[u8],
    times: &Times,
    probe: &Probe,
) -> Option<u64> {
    let found = find(buckets, bytes, probe);
    if found[0].2 | found[1].2 == W::ZERO {
        return None;
    }
    found.into_iter().find_map(|(place, bucket, mut found)| {
        let mut age = None;
        while found != W::ZERO && age.is_none() {
            let block = block_of(buckets, probe.segment, place);
            let slot = buckets.slot(bucket, buckets.shift_of(found));
            age = slot.and_then(|(_, label)| times.age(block, label));
            found = found & found.wrapping_sub(W::from_u64(1));
        }
        age
    })
}
