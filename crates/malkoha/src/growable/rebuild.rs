//! Segments rebuilt from their slots: with more buckets, wider values, or split in two.
//!
//! The old segment stays as it is until all keys have a place in the new one.

use std::iter;
use std::ops::Range;

use super::change::MAX_REBUILDS;
use super::codec::{AnyCodec, refitted};
use super::grid::{GROUPS, Grid, MAX_BUCKETS, MIX_BITS, PLACE_BITS, PLACES};
use super::pool::sizes;
use super::record::Record;
use super::regroup::regroup;
use super::segment::{Form, PADDING, Position, Segment, Slot, bucket_bits, segment_bytes};
use super::shape::{ROOM, Shape};
use super::stash::MOST_MOVED;
use super::table::{Growing, MAX_KICKS, narrow};
use crate::addressing::index;
use crate::layout::Search;
use crate::layout::four_lanes::SLOTS;
use crate::spill::SpillKey;

/// Used instead of `ROOM` until the filter holds its capacity: until then, only a segment with more
/// than its share of the keys is full.
const EARLY_ROOM: u64 = 100;

/// Whether a segment grows until it fills the size that the allocator gives. This changes the bytes
/// of files, so it is chosen by a feature and not by the platform.
const FILLS_SIZES: bool = cfg!(feature = "allocator-sizes");

/// Room in a grown segment, in hundredths of what its keys fill: its load falls to 0.8, or it takes
/// the next size that an allocator has, which is up to a quarter more.
const GROWN_ROOM: u64 = if FILLS_SIZES { 106 } else { ROOM };

/// The number of sizes that are tried for a segment before one of its keys is stashed.
const MAX_SIZES: usize = 4;
/// A segment is split only when at most three in four of its keys would go into both halves:
/// otherwise the split would copy them and free little. Without chosen keys, the share exceeds this
/// only far beyond the growth that was asked for.
const MOST_EXHAUSTED: (u32, u32) = (3, 4);
/// Places that the searches of a rebuild look at before it stashes what finds no room at once. Keys
/// that nobody chose need a quarter of it.
const MOST_PLACES: u64 = 1 << 14;

/// Places that an insert into a growing table of one owner looks at beyond its key's own, at most:
/// a few rebuilds, each of which tries several sizes and a split, with the searches between them.
#[must_use]
pub const fn most_places_growing() -> u64 {
    // The last search of a rebuild may begin when nearly all is used. One ends with all moves out
    // of a place, and begins with two.
    let search = (MAX_KICKS + SLOTS + 2) as u64;
    let widened = 1;
    let rebuilds = widened + MAX_REBUILDS as u64 * (MAX_SIZES as u64 + 2);
    rebuilds * (MOST_PLACES + search) + (MAX_REBUILDS as u64 + 1) * search
}

/// How a rebuild treats a key that finds no place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It fails, and changes nothing.
    Refuse,
    /// It leaves the key without a slot.
    Stash,
}

/// Slots that found no place in a rebuild, each with the number of its segment.
pub(super) struct Overflowed {
    pub(super) slots: Vec<(usize, Slot)>,
    pub(super) misfit: Misfit,
}

/// Moves all occupants of the sources into the segments `to`. For a source's number and a
/// fingerprint, `children` returns the numbers of the segments that it goes to, and its fingerprint
/// there. Where a place is crowded, second copies go to `overflowed` instead. Occupants that still
/// find no place go there too, or the function returns `false`, as its `misfit` says.
pub(super) fn pour<const M: usize, const N: usize>(
    sources: [(Segment<'_, 2>, &[u8]); M],
    to: &[Segment<'_, 2>; N],
    into: &mut [Box<[u8]>; N],
    search: &mut Search,
    overflowed: &mut Overflowed,
    children: impl Fn(usize, u64) -> (Range<usize>, u64),
) -> bool {
    let mut waiting = Vec::new();
    // Occupied lanes of the new buckets: cheaper to know than to look up.
    let mut lens = [[0_u8; 1 << (PLACE_BITS + 1)]; N];
    for (source, (from, bytes)) in sources.into_iter().enumerate() {
        from.for_each_occupant(bytes, |_, occupant, mix| {
            let (numbers, fingerprint) = children(source, occupant.fingerprint);
            for number in numbers {
                let slot = Slot { fingerprint, ..occupant };
                let bucket = to[number].form.grid.bucket(slot.place, mix);
                let len = &mut lens[number][index(bucket)];
                let lane = u32::from(*len);
                if lane < SLOTS {
                    to[number].fill(&mut into[number], Position { bucket, lane }, slot);
                    *len += 1;
                } else {
                    waiting.push((number, slot));
                }
            }
        });
    }
    // These move other occupants, so they come after all those that need no moves.
    place_others(to, into, search, waiting, overflowed)
}

/// Finds places for slots whose buckets are full: the last step of [`pour`].
pub(super) fn place_others<const N: usize>(
    to: &[Segment<'_, 2>; N],
    into: &mut [Box<[u8]>; N],
    search: &mut Search,
    waiting: Vec<(usize, Slot)>,
    overflowed: &mut Overflowed,
) -> bool {
    let most = search.work + MOST_PLACES;
    waiting.into_iter().all(|(number, slot)| {
        let (to, into) = (&to[number], &mut into[number]);
        let spot = to.spot(slot.place, slot.fingerprint);
        loop {
            let kicks = if search.work < most { MAX_KICKS } else { 0 };
            if to.insert(into, search, &spot, slot.value, kicks) {
                return true;
            }
            if let Some((at, copy)) = to.second_copy(into, spot.buckets) {
                to.remove_at(into, at);
                overflowed.slots.push((number, copy));
            } else if overflowed.misfit == Misfit::Stash {
                overflowed.slots.push((number, slot));
                return true;
            } else {
                return false;
            }
        }
    })
}

/// The number of buckets, at least `buckets`, that fills what an allocator gives for slots of this
/// width; `None` if it would give much more than a segment can have.
pub(super) fn filling(width: u32, form: Form, buckets: u64) -> Option<u64> {
    if !FILLS_SIZES {
        return Some(buckets);
    }
    let form = Form { grid: Grid::new(narrow(buckets)), ..form };
    let taken = sizes::taken(segment_bytes(width, form)) as u64;
    let most = (taken - PADDING) * 8 / bucket_bits(width, form);
    (most <= MAX_BUCKETS * 16 / 15).then_some(most.min(MAX_BUCKETS))
}

/// The form of a half of a split segment, with this many keys.
fn half_form(shape: &Shape, width: u32, form: Form, keys: u32) -> Form {
    let wanted = shape.buckets_for(u64::from(keys) * shape.steps().split_room / 100);
    let wanted = wanted.clamp(PLACES, MAX_BUCKETS);
    let buckets = filling(width, form, wanted).unwrap_or(wanted);
    Form { grid: Grid::new(narrow(buckets)), ..form }
}

impl Growing {
    /// Makes room in a segment, if it [can grow](Self::can_grow). Builds at most six others.
    pub(super) fn grow(&mut self, number: usize) {
        let Record { form, len, stashed, .. } = self.records[number];
        if form.grid.is_grouped() && form.grid.buckets() < MAX_BUCKETS {
            return match self.next_buckets(number) {
                Some(buckets) => self.extend(number, buckets),
                None if self.split(number) => {}
                None => self.extend(number, MAX_BUCKETS),
            };
        }
        let room = if self.is_below_capacity() { EARLY_ROOM } else { GROWN_ROOM };
        let wanted = self.shape.buckets_for((u64::from(len) + u64::from(stashed)) * room / 100);
        // More in any case, even if a search failed early.
        let step = if self.is_below_capacity() { 64 } else { 32 };
        let wanted = wanted.max(form.grid.buckets() + form.grid.buckets() / step + 1);
        // A few keys can be unlucky, in a small table or with few bits: then more still.
        let sizes = iter::successors(Some(wanted), |&buckets| Some(buckets + buckets / 4 + 1));
        let sizes = sizes.take_while(|&buckets| buckets <= MAX_BUCKETS);
        let width = self.any_codec(number).width();
        let mut sizes = sizes.map_while(|buckets| filling(width, form, buckets)).take(MAX_SIZES);
        // A last small step would leave little room for moves, so the segment is split instead.
        if !sizes.any(|buckets| self.resize(number, buckets)) && !self.split(number) {
            let grid = Grid::new(narrow(wanted.min(MAX_BUCKETS)));
            self.rebuild(number, Form { grid, ..form }, Misfit::Stash);
        }
    }

    pub(super) fn can_grow(&self, number: usize) -> bool {
        self.records[number].form.grid.buckets() < MAX_BUCKETS || self.can_split(number)
    }

    fn can_split(&self, number: usize) -> bool {
        let Record { home, form, stashed, splits_at, .. } = self.records[number];
        let has_bits =
            || self.shape.copies_exhausted() || home.depth + MIX_BITS < self.least_known();
        form.grid.low_bits() == 0
            && self.directory.takes(home.depth + 1, self.segments.len())
            && stashed <= MOST_MOVED
            && self.keys_of(number) >= splits_at.into()
            && has_bits()
    }

    /// Builds a segment with another number of buckets; returns `false` and changes nothing if its
    /// keys do not fit.
    pub(super) fn resize(&mut self, number: usize, buckets: u64) -> bool {
        let form = self.records[number].form;
        let grid = Grid::new(narrow(buckets));
        self.rebuild(number, Form { grid, ..form }, Misfit::Refuse)
    }

    /// Gives a segment room for values of `value_bits` bits. Each key keeps its bucket.
    pub(super) fn widen(&mut self, number: usize, value_bits: u32) {
        let form = Form { value_bits, ..self.records[number].form };
        self.rebuild(number, form, Misfit::Stash);
    }

    /// Builds a segment in another form.
    pub(super) fn rebuild(&mut self, number: usize, form: Form, misfit: Misfit) -> bool {
        let record = self.records[number];
        let Record { form: old, len, .. } = record;
        let codecs =
            [record, Record { form, ..record }].map(|record| record.any_codec(&self.shape));
        let (bytes, search) = (self.segments.bytes(number), &mut self.search);
        let mut overflowed = Overflowed { slots: Vec::new(), misfit };
        let (from, to) =
            (Segment::new(codecs[0].wide(), old), Segment::new(codecs[1].wide(), form));
        let mut into = [to.zeroed()];
        let children = |_, kept| (0..1, kept);
        let fitted =
            len == 0 || pour([(from, bytes)], &[to], &mut into, search, &mut overflowed, children);
        self.stay_small();
        if !fitted {
            return false;
        }
        let [bytes] = into;
        let has_stash = self.forget_stash(number);
        self.install(number, Record { form, ..self.records[number] }, bytes);
        self.spill_overflowed([number], overflowed, has_stash);
        true
    }

    /// Spills the keys that a rebuild left without a slot in these segments, and places the keys
    /// that are stashed there, or counts them.
    pub(super) fn spill_overflowed<const N: usize>(
        &mut self,
        numbers: [usize; N],
        overflowed: Overflowed,
        has_stash: bool,
    ) {
        for &(child, Slot { fingerprint, place, value }) in &overflowed.slots {
            let number = numbers[child];
            let mix = self.segment(number).mix(fingerprint);
            let place = narrow(place.min(mix.alternate(place)));
            let (segment, short) = (narrow(number as u64), narrow(fingerprint));
            self.spill.add(SpillKey { segment, place, fingerprint: short, value }, 1);
            self.records[number].len -= 1;
            self.occupied -= 1;
            self.count_out(self.known_bits(number, fingerprint));
        }
        if has_stash || !overflowed.slots.is_empty() {
            numbers.into_iter().for_each(|number| self.place_stashed(number));
        }
    }

    /// Splits a segment by the next bit of its keys, if it can be split.
    pub(super) fn split(&mut self, number: usize) -> bool {
        if !self.can_split(number) {
            return false;
        }
        let Record { home, form, len, .. } = self.records[number];
        let homes = [home.child(0), home.child(1)];
        let Some(mut ages) = self.exhausted(number) else { return false };
        // At most the slots of a segment.
        let exhausted = narrow(ages.len() as u64);
        if self.shape.ages {
            self.copied_ages.append(&mut ages);
        }
        let mut overflowed = Overflowed { slots: Vec::new(), misfit: Misfit::Stash };
        // No child is narrowed, as its parent is not.
        let codecs = [home, homes[0]].map(|home| AnyCodec::new(&self.shape, home.depth, form));
        let (bytes, search) = (self.segments.bytes(number), &mut self.search);
        let from = Segment::new(codecs[0].wide(), form);
        // Room is made in advance, and then there is often nothing to move.
        let buckets = 0..if len == 0 { 0 } else { form.grid.buckets() };
        let upper: u32 = buckets.map(|bucket| from.codec.upper(from.load(bytes, bucket))).sum();
        let lens = [len - upper + exhausted, upper];
        let half_form = |len| half_form(&self.shape, codecs[1].width(), form, len);
        let to = lens.map(|len| Segment::new(codecs[1].wide(), half_form(len)));
        let mut into = to.each_ref().map(Segment::zeroed);
        let (codec, bits) = (from.codec, codecs[1].bits);
        let half = move |fingerprint| {
            let (half, rest) = codec.split(fingerprint);
            (half, refitted(rest, codec.bits, bits))
        };
        if exhausted > 0 {
            let children = |_, fingerprint| {
                if from.codec.is_exhausted(fingerprint) {
                    return (0..2, refitted(fingerprint, codec.bits, bits));
                }
                let (half, rest) = half(fingerprint);
                (half..half + 1, rest)
            };
            pour([(from, bytes)], &to, &mut into, search, &mut overflowed, children);
        } else if len > 0 {
            let mut waiting = Vec::new();
            // SAFETY: asks nothing.
            unsafe { regroup(half, &from, bytes, &to, &mut into, 0..GROUPS, &mut waiting) };
            place_others(&to, &mut into, search, waiting, &mut overflowed);
        }
        self.count_doubled(home.depth, exhausted.into());
        let numbers = [number, self.segments.len()];
        let has_stash = self.forget_stash(number);
        for (child, bytes) in into.into_iter().enumerate() {
            let (home, form, len) = (homes[child], to[child].form, lens[child]);
            self.install(numbers[child], Record::new(home, form, len), bytes);
        }
        self.split_spill(codecs, numbers);
        self.spill_overflowed(numbers, overflowed, has_stash);
        true
    }

    /// Counts the slots of exhausted keys of a segment at this depth, which a split doubles.
    fn count_doubled(&mut self, depth: u32, exhausted: u64) {
        if exhausted > 0 {
            let least = (depth + MIX_BITS) as usize;
            self.occupied += exhausted;
            self.known[least] = self.known[least].saturating_sub(exhausted);
            self.known[least + 1] += 2 * exhausted;
        }
    }

    /// The values of a set's slots that would go into both halves of a split; `None` if so large a
    /// share of its keys, stashed ones included, would that the segment is not split yet.
    fn exhausted(&mut self, number: usize) -> Option<Vec<u64>> {
        let Record { home, stashed, .. } = self.records[number];
        let (least, mut values) = (home.depth + MIX_BITS, Vec::new());
        if !self.shape.copies_exhausted() || self.known[least as usize] == 0 && stashed == 0 {
            return Some(values);
        }
        let segment = self.segment(number);
        segment.for_each_occupant(self.bytes(number), |_, slot, _| {
            if segment.codec.is_exhausted(slot.fingerprint) {
                values.push(slot.value);
            }
        });
        let keys = self.spill.segment(narrow(number as u64)).map(|(key, _)| key.fingerprint);
        let spilled = keys.filter(|&fingerprint| segment.codec.is_exhausted(fingerprint.into()));
        let spilled = if stashed > 0 { spilled.count() } else { 0 };
        let all = u32::try_from(values.len().saturating_add(spilled)).unwrap_or(u32::MAX);
        let splits_at = all / MOST_EXHAUSTED.0 * MOST_EXHAUSTED.1;
        if self.keys_of(number) < splits_at.into() {
            self.records[number].splits_at = splits_at;
            return None;
        }
        Some(values)
    }

    fn split_spill(&mut self, [from, to]: [&'static AnyCodec; 2], numbers: [usize; 2]) {
        let numbers = numbers.map(|number| narrow(number as u64));
        for (key, copies) in self.spill.drain(numbers[0]) {
            let fingerprint = u64::from(key.fingerprint);
            let codec = from.wide();
            let (half, rest) = codec.split(fingerprint);
            let is_exhausted = codec.is_exhausted(fingerprint);
            let [fingerprint, rest] =
                [fingerprint, rest].map(|left| narrow(refitted(left, from.bits, to.bits)));
            if is_exhausted {
                if self.shape.ages {
                    self.copied_ages.push(key.value);
                }
                for segment in numbers {
                    self.spill.add(SpillKey { segment, fingerprint, ..key }, copies);
                }
            } else {
                let key = SpillKey { segment: numbers[half], fingerprint: rest, ..key };
                self.spill.add(key, copies);
            }
        }
    }
}
