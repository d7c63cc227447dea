//! Lookups of many keys: what can be computed for a group of keys together is, and their cache
//! lines are prefetched long before they are read.

use super::codec::Codec;
use super::directory::EntryWord;
use super::grid::KeyBits;
use super::pool::Address;
use super::record::Home;
use super::segment::bucket_bits;
use super::sole::Buckets;
use super::table::Growing;
use crate::arch::{prefetch_from, vectorized};
use crate::layout::four_lanes::SLOTS;
use crate::ring::{self, GROUP, Group};
use crate::table::batch::IN_CACHE_BYTES;
use crate::table::traits::Sole;

impl Growing {
    /// Whether the table is mostly in cache. A partition of a shared table never counts as such,
    /// because batches read the other partitions in between.
    fn is_near(&self) -> bool {
        self.directory.within() == Home::ROOT && self.segments.used() <= IN_CACHE_BYTES as u64
    }
}

/// The buckets and fingerprints of a group of lookups.
#[derive(Clone, Copy)]
struct Aims {
    segments: [*const u8; GROUP],
    bits: [[u64; GROUP]; 2],
    wanted: [u64; GROUP],
}

/// The directory's words for the segments of a group.
type EntryWords = [EntryWord; GROUP];

impl Aims {
    const EMPTY: Self =
        Self { segments: [std::ptr::null(); GROUP], bits: [[0; GROUP]; 2], wanted: [0; GROUP] };

    /// Computes them for a group of hashes.
    #[inline(always)]
    fn find(&mut self, table: &Growing, width: u32, hashes: &[u64], group: Group) -> EntryWords {
        let mut room = [0; GROUP];
        let hashes = ring::whole(&hashes[group.first()..], &mut room);
        if table.is_grouped() {
            self.take::<true>(table, width, hashes)
        } else {
            self.take::<false>(table, width, hashes)
        }
    }

    /// One array after another, so that each loop is vectorised.
    #[inline(always)]
    fn take<const GROUPED: bool>(
        &mut self,
        table: &Growing,
        width: u32,
        hashes: &[u64; GROUP],
    ) -> EntryWords {
        let (mut index, mut words) = ([0; GROUP], [EntryWord::default(); GROUP]);
        for (index, &hash) in index.iter_mut().zip(hashes) {
            *index = table.directory.index(KeyBits::of_many(hash).path);
        }
        let mut addresses = [Address::default(); GROUP];
        for (i, &index) in index.iter().enumerate() {
            let entry = table.directory.nearest(index);
            (words[i], addresses[i]) = (entry.word, entry.address);
        }
        for (segment, &address) in self.segments.iter_mut().zip(&addresses) {
            *segment = table.segments.nearest(address);
        }
        for (i, &hash) in hashes.iter().enumerate() {
            let (key, form) = (KeyBits::of_many(hash), words[i].form());
            self.wanted[i] = key.fingerprint(words[i].depth(), width - 1);
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
        words
    }

    /// Requests their lines.
    #[inline(always)]
    fn request(&self, width: u32) {
        let last = u64::from(SLOTS * width) - 1;
        // One bucket in eight ends in another line than it begins.
        for i in 0..GROUP {
            for bits in [self.bits[0][i], self.bits[1][i]] {
                prefetch_from(self.segments[i], bits >> 3);
                prefetch_from(self.segments[i], (bits + last) >> 3);
            }
        }
    }

    /// Whether each is in.
    ///
    /// # Safety
    ///
    /// They are buckets of segments with this codec. `SHORT` is as for [`FourLanes::read`].
    #[inline(always)]
    unsafe fn look<const SHORT: bool, const N: usize>(&self, codec: &Codec<N>) -> [bool; GROUP] {
        let Self { segments, bits, wanted } = self;
        let mut answers = [false; GROUP];
        for i in 0..GROUP {
            let buckets = [(segments[i], bits[0][i]), (segments[i], bits[1][i])];
            // SAFETY: as the caller promises.
            answers[i] = unsafe { codec.contains_at::<SHORT>(buckets, wanted[i]) };
        }
        answers
    }
}

vectorized! {
    /// Whether each hash's fingerprint is in the table.
    ///
    /// # Safety
    ///
    /// The codec is that of all segments.
    pub(super) unsafe fn contains[const N: usize](
        codec: &Codec<N>,
        table: &Growing,
        hashes: &[u64],
        found: &mut [bool],
    ) {
        let is_far = !table.is_near();
        let mut ring = [Aims::EMPTY; ring::SLOTS];
        for (ask, look) in ring::schedule(hashes.len()) {
            if let Some(group) = ask {
                let aims = &mut ring[group.slot()];
                aims.find(table, codec.width, hashes, group);
                if is_far {
                    aims.request(codec.width);
                }
            }
            if let Some(group) = look {
                let aims = &ring[group.slot()];
                // SAFETY: `take` computed buckets of the segments' forms, which the directory
                // keeps with the segments; the table is borrowed, so it does not change.
                let answers = unsafe {
                    if codec.is_short() {
                        aims.look::<true, N>(codec)
                    } else {
                        aims.look::<false, N>(codec)
                    }
                };
                ring::store(&answers, &mut found[group.first()..]);
            }
        }
    }
}

vectorized! {
    /// The candidate of each hash of a map: [`Sole::Several`] also where it is not certain.
    ///
    /// # Safety
    ///
    /// The codec is that of all segments, whose buckets are in groups. Values have few enough bits
    /// for [`Buckets::sole`].
    pub(super) unsafe fn soles[const N: usize](
        codec: &Codec<N>,
        table: &Growing,
        hashes: &[u64],
        found: &mut [Sole],
    ) {
        let mut ring = [(Aims::EMPTY, [EntryWord::default(); GROUP]); ring::SLOTS];
        for (ask, look) in ring::schedule(hashes.len()) {
            if let Some(group) = ask {
                let (aims, words) = &mut ring[group.slot()];
                *words = aims.find(table, codec.width, hashes, group);
                aims.request(codec.width);
            }
            if let Some(group) = look {
                let (aims, words) = &ring[group.slot()];
                let rest = group.first()..;
                for (i, (&hash, found)) in
                    hashes[rest.clone()].iter().zip(&mut found[rest]).take(GROUP).enumerate()
                {
                    let places = KeyBits::of(hash).places;
                    let buckets = Buckets {
                        segment: aims.segments[i],
                        bits: [aims.bits[0][i], aims.bits[1][i]],
                        home: (words[i].number(), places[0].min(places[1])),
                        value_bits: words[i].form().value_bits,
                    };
                    // SAFETY: as in `contains`.
                    *found = unsafe {
                        if codec.is_short() {
                            buckets.sole::<true, N>(codec, aims.wanted[i], &table.spill)
                        } else {
                            buckets.sole::<false, N>(codec, aims.wanted[i], &table.spill)
                        }
                    };
                }
            }
        }
    }
}
