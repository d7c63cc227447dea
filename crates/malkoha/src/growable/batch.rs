//! Lookups of many keys: what can be computed for a group of keys together is, and their cache
//! lines are prefetched long before they are read.

use super::codec::Codec;
use super::directory::EntryWord;
use super::segment::bucket_bits;
use super::shape::LANES;
use super::strings::Strings;
use super::table::Growing;
use crate::arch::{prefetch_from, vectorized};
use crate::layout::bits::Word;
use crate::ring::{self, GROUP};

/// How a batch compares a bucket with a key.
pub(super) trait Compare: Copy {
    fn width(&self) -> u32;

    /// Whether one of the buckets that begin at these bits has a fingerprint that begins the
    /// wanted one.
    ///
    /// # Safety
    ///
    /// Each pair is a segment's first byte and the first bit of one of its buckets.
    unsafe fn contains(&self, buckets: [(*const u8, u64); 2], wanted: u64) -> bool;
}

/// Buckets that fit a word.
impl<W: Word> Compare for Codec<W> {
    #[inline(always)]
    fn width(&self) -> u32 {
        self.width
    }

    #[inline(always)]
    unsafe fn contains(&self, buckets: [(*const u8, u64); 2], wanted: u64) -> bool {
        // SAFETY: a segment has 16 bytes behind its buckets, so a word can be loaded at each.
        let [first, second] = buckets.map(|(bytes, bit)| unsafe { load::<W>(bytes, bit) });
        self.contains(first, second, self.broadcast(wanted))
    }
}

/// Buckets whose halves fit a word each, of 64 bits, which vector units have.
#[derive(Clone, Copy)]
pub(super) struct Halves(pub(super) Codec<u64>);

impl Compare for Halves {
    #[inline(always)]
    fn width(&self) -> u32 {
        self.0.width
    }

    #[inline(always)]
    unsafe fn contains(&self, buckets: [(*const u8, u64); 2], wanted: u64) -> bool {
        let wanted = self.0.broadcast(wanted);
        let half = u64::from(LANES / 2 * self.0.width);
        // SAFETY: a segment has 16 bytes behind its buckets, so a word can be loaded at each lane.
        let low = buckets.map(|(bytes, bit)| unsafe { load(bytes, bit) });
        // SAFETY: as above.
        let high = buckets.map(|(bytes, bit)| unsafe { load(bytes, bit + half) });
        self.0.contains(low[0], low[1], wanted) | self.0.contains(high[0], high[1], wanted)
    }
}

/// The word that begins at this bit.
///
/// # Safety
///
/// A whole word can be read from the byte of that bit.
#[inline(always)]
unsafe fn load<W: Word>(bytes: *const u8, bit: u64) -> W {
    // A segment is in memory, so its offsets fit usize; & 7 fits everything.
    let (at, shift) = ((bit >> 3) as usize, (bit & 7) as u32);
    // SAFETY: as the caller promises.
    unsafe { W::read(bytes.add(at)) >> shift }
}

/// Where the lookups of a group load, and what they look for.
#[derive(Clone, Copy)]
struct Aims {
    segments: [*const u8; GROUP],
    bits: [[u64; GROUP]; 2],
    wanted: [u64; GROUP],
}

impl Aims {
    const EMPTY: Self =
        Self { segments: [std::ptr::null(); GROUP], bits: [[0; GROUP]; 2], wanted: [0; GROUP] };

    /// One array after another, so that each loop is vectorised.
    #[inline(always)]
    fn take<const ONE: bool, const GROUPED: bool>(
        &mut self,
        table: &Growing,
        width: u32,
        hashes: &[u64; GROUP],
    ) {
        let last = u64::from(LANES * width) - 1;
        let (mut index, mut words) = ([0; GROUP], [EntryWord::default(); GROUP]);
        for (index, &hash) in index.iter_mut().zip(hashes) {
            let key = table.strings.key::<ONE>(hash);
            *index = table.directory.index(key.root, key.path);
        }
        for (i, &index) in index.iter().enumerate() {
            let entry = table.directory.entry(index);
            words[i] = entry.word();
            self.segments[i] = table.segments.from(entry.address()).as_ptr();
        }
        for (i, &hash) in hashes.iter().enumerate() {
            let (key, form) = (table.strings.key::<ONE>(hash), words[i].form());
            let depth = words[i].depth();
            self.wanted[i] = Strings::fingerprint::<ONE>(key.string, depth, width - 1);
            let bucket_bits = bucket_bits(width, form);
            for (bits, place) in self.bits.iter_mut().zip(key.places) {
                let bucket = if GROUPED {
                    form.grid.bucket_in_group(place, key.mix)
                } else {
                    form.grid.bucket(place, key.mix)
                };
                bits[i] = bucket * bucket_bits;
            }
        }
        // One bucket in eight ends in another line than it begins.
        for i in 0..GROUP {
            for bits in [self.bits[0][i], self.bits[1][i]] {
                prefetch_from(self.segments[i], bits >> 3);
                prefetch_from(self.segments[i], (bits + last) >> 3);
            }
        }
    }
}

vectorized! {
    /// Whether each hash's fingerprint is in the table.
    ///
    /// # Safety
    ///
    /// The comparison is one of the table's.
    pub(super) unsafe fn contains<C: Compare>(
        compare: &C,
        table: &Growing,
        hashes: &[u64],
        found: &mut [bool],
    ) {
        let mut ring = [Aims::EMPTY; ring::SLOTS];
        for (ask, look) in ring::turns(hashes.len()) {
            if let Some(group) = ask {
                let rest = &hashes[group.first()..];
                // With one of them, which the table has a segment for.
                let mut padded = [rest[0]; GROUP];
                let hashes = rest.first_chunk::<GROUP>().unwrap_or_else(|| {
                    padded[..rest.len()].copy_from_slice(rest);
                    &padded
                });
                let (aims, width) = (&mut ring[group.slot()], compare.width());
                match (table.strings.is_one_tree(), table.rows == 0) {
                    (true, true) => aims.take::<true, true>(table, width, hashes),
                    (true, false) => aims.take::<true, false>(table, width, hashes),
                    (false, _) => aims.take::<false, false>(table, width, hashes),
                }
            }
            if let Some(group) = look {
                let Aims { segments, bits, wanted } = &ring[group.slot()];
                let mut answers = [false; GROUP];
                for i in 0..GROUP {
                    let buckets = [(segments[i], bits[0][i]), (segments[i], bits[1][i])];
                    // SAFETY: `take` computed a bucket of the segment's form, which the directory
                    // keeps with the segment; the table is not changed meanwhile.
                    answers[i] = unsafe { compare.contains(buckets, wanted[i]) };
                }
                let rest = &mut found[group.first()..];
                let len = rest.len().min(GROUP);
                rest[..len].copy_from_slice(&answers[..len]);
            }
        }
    }
}
