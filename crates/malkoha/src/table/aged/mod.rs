//! A table of fixed size whose values are ages.
//!
//! A block is [`BLOCK`] buckets of a segment. Blocks are swept before they are changed, and the
//! search for room treats an expired slot as free. So nothing waits for a sweep.

mod slots;

use slots::Slots;

use crate::addressing::Probe;
use crate::error::{InsertError, UnionError};
use crate::expiry::{Ages, Times};
use crate::layout::aged::{Aged, MOST_BITS};
use crate::layout::bits::Word;
use crate::params::float;
use crate::ring;
use crate::table::fixed::Fixed;

/// Buckets that are swept together: an epoch of 64 bits for each block is a quarter of a bit per
/// slot.
const BLOCK: u64 = 64;

/// How buckets are read.
#[derive(Clone, Copy, Debug)]
pub struct Form(Words);

/// In words that hold one.
#[derive(Clone, Copy, Debug)]
enum Words {
    Narrow(Aged<u64>),
    Wide(Aged<u128>),
}

macro_rules! with_form {
    ($form:expr, $aged:ident => $body:expr) => {
        match $form.0 {
            Words::Narrow($aged) => $body,
            Words::Wide($aged) => $body,
        }
    };
}

impl Fixed {
    /// The most bits that a fingerprint can have beside this many bits of age.
    pub(crate) const fn most_fingerprint_bits(age_bits: u32) -> u32 {
        MOST_BITS - age_bits
    }
}

impl Ages for Fixed {
    type Form = Form;

    fn form(&self) -> Option<Form> {
        let geometry = &self.parts.geometry;
        let narrow = Aged::new(geometry).map(Words::Narrow);
        let form = narrow.or_else(|| Aged::new(geometry).map(Words::Wide)).map(Form);
        form.filter(|_| self.spill.is_empty())
    }

    fn blocks(&self) -> usize {
        let blocks = u64::from(self.parts.geometry.places).div_ceil(BLOCK);
        let blocks = u64::from(self.parts.geometry.segments) * blocks;
        usize::try_from(blocks).expect("fewer than the bytes of the table")
    }

    #[inline]
    fn age(&self, form: Form, times: &Times, hash: u64) -> Option<u64> {
        with_form!(form, aged => age_of(&aged, &self.bytes, times, &aged.probe(hash)))
    }

    fn lives(&self, form: Form, times: &Times, hashes: &[u64], found: &mut [bool]) {
        with_form!(form, aged => {
            let ask = |bytes: &&[u8], hash: u64| {
                let probe = aged.probe(hash);
                aged.prefetch(bytes, &probe);
                probe
            };
            ring::one_by_one(&mut &*self.bytes, hashes, ask, |bytes, i, _, probe| {
                found[i] = age_of(&aged, bytes, times, probe).is_some();
            });
        });
    }

    #[inline]
    fn see(
        &mut self,
        form: Form,
        times: &mut Times,
        hashes: &[u64],
        refresh: bool,
        mut done: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        with_form!(form, aged => {
            let (mut slots, label) = (Slots::of(self, aged), times.label());
            let mut see = |slots: &mut Slots<'_, _>, i: usize, probe: &Probe| {
                let seen = slots.see(times, probe, label, |_, _| refresh);
                done(i, seen.ok_or_else(|| times.refusal()));
            };
            if let [hash] = hashes {
                return see(&mut slots, 0, &aged.probe(*hash));
            }
            let ask = |slots: &Slots<'_, _>, hash: u64| {
                let probe = aged.probe(hash);
                aged.prefetch(slots.bytes, &probe);
                probe
            };
            ring::one_by_one(&mut slots, hashes, ask, |slots, i, _, probe| see(slots, i, probe));
        });
    }

    fn forget(&mut self, form: Form, times: &mut Times, hash: u64) -> bool {
        with_form!(form, aged => Slots::of(self, aged).forget(times, &aged.probe(hash)))
    }

    fn sweep(&mut self, form: Form, times: &mut Times) {
        with_form!(form, aged => {
            let mut slots = Slots::of(self, aged);
            for segment in 0..aged.addressing().segments() {
                for block in 0..aged.addressing().places().div_ceil(BLOCK) {
                    slots.clean(times, segment.into(), block * BLOCK);
                }
            }
        });
    }

    fn for_each_label(&self, form: Form, mut each: impl FnMut(u64)) {
        with_form!(form, aged => {
            for (base, place) in every_place(&aged) {
                let bucket = aged.load(&self.bytes, base, place);
                aged.shifts().filter_map(|at| aged.slot(bucket, at)).for_each(|slot| each(slot.1));
            }
        });
    }

    fn absorb(&mut self, form: Form, times: &mut Times, other: &Self) -> Result<(), UnionError> {
        if self.parts.geometry != other.parts.geometry {
            return Err(UnionError::Different("geometry"));
        }
        with_form!(form, aged => {
            let mut slots = Slots::of(self, aged);
            for segment in 0..aged.addressing().segments() {
                for place in 0..aged.addressing().places() {
                    let bucket = aged.load(&other.bytes, aged.base(segment.into()), place);
                    for (fingerprint, label) in aged.shifts().filter_map(|at| aged.slot(bucket, at)) {
                        let probe = aged.addressing().occupant(segment.into(), place, fingerprint);
                        let is_older = |times: &Times, known| times.is_older(known, label);
                        if slots.see(times, &probe, label, is_older).is_none() {
                            return Err(times.refusal().into());
                        }
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

/// The bases of segments, with each of their places.
fn every_place<W: Word>(aged: &Aged<W>) -> impl Iterator<Item = (usize, u64)> + use<'_, W> {
    let segments = 0..u64::from(aged.addressing().segments());
    segments.flat_map(move |n| (0..aged.addressing().places()).map(move |p| (aged.base(n), p)))
}

/// The number of the block of a place.
#[inline(always)]
fn block_of<W: Word>(aged: &Aged<W>, segment: u64, place: u64) -> usize {
    let blocks = aged.addressing().places().div_ceil(BLOCK);
    // A number below `blocks()`, which fits.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let block = (segment * blocks + place / BLOCK) as usize;
    block
}

#[inline(always)]
fn age_of<W: Word>(aged: &Aged<W>, bytes: &[u8], times: &Times, probe: &Probe) -> Option<u64> {
    let base = aged.base(probe.segment);
    let first = aged.load(bytes, base, probe.first);
    let second = aged.load(bytes, base, probe.second);
    let found = [aged.matches(first, probe.fingerprint), aged.matches(second, probe.fingerprint)];
    if found[0] | found[1] == W::ZERO {
        return None;
    }
    let one = |bucket: W, mut found: W, place: u64| {
        let mut age = None;
        while found != W::ZERO && age.is_none() {
            let label = aged.slot(bucket, aged.shift_of(found)).map(|(_, label)| label);
            let block = block_of(aged, probe.segment, place);
            age = label.and_then(|label| times.age(block, label));
            found = found & found.wrapping_sub(W::from_u64(1));
        }
        age
    };
    one(first, found[0], probe.first).or_else(|| one(second, found[1], probe.second))
}
