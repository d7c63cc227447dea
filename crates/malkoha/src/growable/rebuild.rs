//! Segments built anew from their slots: with more buckets, wider values, or split in two.
//!
//! The new segment is filled beside the old one, which stays as it is until all have a place.

use std::iter;

use super::directory::{Directory, Form};
use super::grid::{Grid, MAX_BUCKETS, PLACE_BITS, PLACES};
use super::segment::{Position, Segment, Slot};
use super::shape::{LANES, ROOM, buckets_for};
use super::table::{Growing, MAX_KICKS, Record, narrow, with_codec};
use crate::addressing::Probe;
use crate::layout::bits::Word;
use crate::layout::{self, Search};
use crate::spill::SpillKey;

/// As `ROOM`, until the filter holds its capacity, when only a segment with more than its share of
/// the keys is full.
const FIRST_ROOM: u64 = 100;

/// Where an occupant goes.
#[derive(Clone, Copy)]
pub(super) enum Child {
    /// Into the segment of this number, with this fingerprint.
    One(usize, u64),
    /// Into both, as it is.
    Both,
}

/// Pours all occupants of the sources into the segments `to`: `child` says, for a source's number
/// and a fingerprint, where to. `false` if one finds no place. Where several crowd a place, second
/// copies come to `aside` instead, with the number of their segment.
pub(super) fn pour<W: Word, const M: usize, const N: usize>(
    sources: [(Segment<'_, W>, &[u8]); M],
    to: &[Segment<'_, W>; N],
    into: &mut [Box<[u8]>; N],
    search: &mut Search,
    aside: &mut Vec<(usize, Slot)>,
    child: impl Fn(usize, u64) -> Child,
) -> bool {
    let mut waiting = Vec::new();
    // Occupied lanes of the new buckets: cheaper to know than to look up.
    let mut lens = [[0_u8; 1 << (PLACE_BITS + 1)]; N];
    for (source, (from, bytes)) in sources.into_iter().enumerate() {
        from.for_each_occupant(bytes, |_, occupant, mix| {
            let mut put = |number: usize, fingerprint| {
                let slot = Slot { fingerprint, ..occupant };
                let bucket = to[number].form.grid.bucket(slot.place, mix);
                // Below MAX_BUCKETS.
                #[expect(clippy::cast_possible_truncation, reason = "see above")]
                let len = &mut lens[number][bucket as usize];
                let lane = u32::from(*len);
                if lane < LANES {
                    to[number].fill(&mut into[number], Position { bucket, lane }, slot);
                    *len += 1;
                } else {
                    waiting.push((number, slot));
                }
            };
            match child(source, occupant.fingerprint) {
                Child::One(number, fingerprint) => put(number, fingerprint),
                Child::Both => (0..N).for_each(|number| put(number, occupant.fingerprint)),
            }
        });
    }
    // They move others, so they come when all are in that need not move.
    waiting.into_iter().all(|(number, slot)| {
        let (to, into) = (&to[number], &mut into[number]);
        let (first, fingerprint) = (slot.place, slot.fingerprint);
        let second = to.mix(fingerprint).alternate(first);
        let probe = Probe { segment: 0, first, second, fingerprint };
        loop {
            if layout::insert(to, into, search, &probe, slot.value, MAX_KICKS) {
                return true;
            }
            let buckets = to.buckets_of([first, second], fingerprint);
            let Some((at, copy)) = to.second_copy(into, buckets) else { return false };
            to.remove_at(into, at);
            aside.push((number, copy));
        }
    })
}

impl Growing {
    /// Makes room in a segment; `false` if the keys have no bit left for another split.
    pub(super) fn grow(&mut self, number: usize) -> bool {
        let Record { form, len, .. } = self.records[number];
        let room = if self.is_first() { FIRST_ROOM } else { ROOM };
        let wanted = buckets_for(u64::from(len) * room / 100);
        // More in any case, also where a search failed early.
        let step = if self.is_first() { 64 } else { 32 };
        let wanted = wanted.max(form.grid.buckets() + form.grid.buckets() / step + 1);
        // A few keys can be unlucky, in a small table or with few bits: then more still.
        let wanted = iter::successors(Some(wanted), |&buckets| Some(buckets + buckets / 4 + 1));
        let mut wanted = wanted.take_while(|&buckets| buckets <= MAX_BUCKETS);
        // A last small step would leave little room for what must move: rather a split.
        wanted.any(|buckets| self.resize(number, buckets))
            || self.split(number)
            || (form.grid.buckets() < MAX_BUCKETS && self.resize(number, MAX_BUCKETS))
    }

    pub(super) fn can_grow(&self, number: usize) -> bool {
        self.records[number].form.grid.buckets() < MAX_BUCKETS || self.can_split(number)
    }

    fn can_split(&self, number: usize) -> bool {
        let Record { home, form, .. } = self.records[number];
        let shape = &self.shape;
        // At least one bit stays in each slot, or what chooses the alternate place.
        let has_bits = || match shape.mix_bits {
            0 => home.depth + 2 <= shape.bits,
            _ => shape.doubles() || home.depth + shape.mix_bits < self.least_known(),
        };
        form.grid.narrowing() == 0
            && Directory::admits(shape.trees(), home.depth + 1, self.segments.len() + 1)
            && has_bits()
    }

    pub(super) fn resize(&mut self, number: usize, buckets: u64) -> bool {
        let form = self.records[number].form;
        self.rebuild(number, Form { grid: Grid::new(narrow(buckets)), ..form })
    }

    /// Gives a segment room for values of so many bits. Each key keeps its bucket, so all fit;
    /// `false` only for a damaged table.
    pub(super) fn widen(&mut self, number: usize, value_bits: u32) -> bool {
        self.rebuild(number, Form { value_bits, ..self.records[number].form })
    }

    /// Builds a segment in another form; `false` and no change if its keys do not fit.
    pub(super) fn rebuild(&mut self, number: usize, form: Form) -> bool {
        let Record { home, form: old, len } = self.records[number];
        let (bytes, search) = (self.segments.bytes(number), &mut self.search);
        let mut aside = Vec::new();
        let built = with_codec!(&self.kernel, codec => {
            let (from, to) = (Segment::new(codec, old, home), Segment::new(codec, form, home));
            let mut into = [to.zeroed()];
            let fitted = pour([(from, bytes)], &[to], &mut into, search, &mut aside, |_, kept| {
                Child::One(0, kept)
            });
            fitted.then_some(into)
        });
        let Some([bytes]) = built else { return false };
        self.install(number, Record { home, form, len }, bytes);
        self.set_aside([number], &aside);
        true
    }

    /// Spills copies that a rebuild left no slot, in these segments.
    pub(super) fn set_aside<const N: usize>(
        &mut self,
        numbers: [usize; N],
        aside: &[(usize, Slot)],
    ) {
        for &(child, Slot { fingerprint, place, value }) in aside {
            let number = numbers[child];
            let home = self.records[number].home;
            let mix =
                with_codec!(&self.kernel, codec => self.segment(codec, number).mix(fingerprint));
            let place = narrow(place.min(mix.alternate(place)));
            let (segment, short) = (narrow(number as u64), narrow(fingerprint));
            self.spill.add(SpillKey { segment, place, fingerprint: short, value }, 1);
            self.records[number].len -= 1;
            self.occupied -= 1;
            self.count_out(home.depth, fingerprint);
        }
    }

    /// Splits a segment by the next bit of its keys; `false` and no change if they do not fit.
    pub(super) fn split(&mut self, number: usize) -> bool {
        if !self.can_split(number) {
            return false;
        }
        let Record { home, form, len } = self.records[number];
        let homes = [home.child(0), home.child(1)];
        let least = home.depth + self.shape.mix_bits;
        let mut aside = Vec::new();
        let has_spent = self.shape.doubles() && self.known[least as usize] > 0;
        let (bytes, search) = (self.segments.bytes(number), &mut self.search);
        let built = with_codec!(&self.kernel, codec => {
            let from = Segment::new(codec, form, home);
            let buckets = 0..form.grid.buckets();
            let upper: u32 = buckets.map(|bucket| codec.upper(from.load(bytes, bucket))).sum();
            let mut spent = 0;
            if has_spent {
                let mut count = |slot: Slot| spent += u32::from(codec.is_spent(slot.fingerprint));
                from.for_each_occupant(bytes, |_, slot, _| count(slot));
            }
            let lens = [len - upper + spent, upper];
            let forms = lens.map(|len| {
                let wanted = buckets_for(u64::from(len) * ROOM / 100).clamp(PLACES, MAX_BUCKETS);
                Form { grid: Grid::new(narrow(wanted)), ..form }
            });
            let to = [0, 1].map(|child| Segment::new(codec, forms[child], homes[child]));
            let mut into = to.each_ref().map(Segment::zeroed);
            let fitted = pour([(from, bytes)], &to, &mut into, search, &mut aside, |_, fingerprint| {
                if has_spent && codec.is_spent(fingerprint) {
                    return Child::Both;
                }
                let (half, rest) = codec.split(fingerprint);
                Child::One(half, rest)
            });
            fitted.then_some((into, forms, lens, spent))
        });
        let Some((into, forms, lens, spent)) = built else { return false };
        if spent > 0 {
            let spent = u64::from(spent);
            self.occupied += spent;
            self.known[least as usize] = self.known[least as usize].saturating_sub(spent);
            self.known[least as usize + 1] += 2 * spent;
        }
        let numbers = [number, self.segments.len()];
        for (child, bytes) in into.into_iter().enumerate() {
            let record = Record { home: homes[child], form: forms[child], len: lens[child] };
            self.install(numbers[child], record, bytes);
        }
        self.split_spill(numbers);
        self.set_aside(numbers, &aside);
        true
    }

    fn split_spill(&mut self, numbers: [usize; 2]) {
        let numbers = numbers.map(|number| narrow(number as u64));
        for (key, copies) in self.spill.drain(numbers[0]) {
            let fingerprint = u64::from(key.fingerprint);
            let (is_spent, (half, rest)) = with_codec!(&self.kernel, codec => {
                (codec.is_spent(fingerprint), codec.split(fingerprint))
            });
            if is_spent {
                for segment in numbers {
                    self.spill.add(SpillKey { segment, ..key }, copies);
                }
            } else {
                let (segment, fingerprint) = (numbers[half], narrow(rest));
                self.spill.add(SpillKey { segment, fingerprint, ..key }, copies);
            }
        }
    }
}
