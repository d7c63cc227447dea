//! The structures of table 3, and ours, each with the same bits as the paper's filter:
//! 12 for every one of its slots.
//!
//! A new structure is one entry of [`all`].

use anyhow::Result;
use malkoha::{
    ConcurrentCuckooFilter, CuckooFilter, GrowableConcurrentCuckooFilter, GrowableCuckooFilter,
    KeyHasher, Layout,
};
use malkoha_classic::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, DLeftCountingFilter, QuotientFilter,
};

use crate::classic::Classic;
use crate::subject::Subject;

/// Bits per slot of the paper's filter, 192 MB for 2^27 slots.
const SLOT_BITS: u64 = 12;
/// Bits per item and hash functions of its Bloom filters (paper, section 7.1).
const BLOOM_BITS: f64 = 13.0;
const BLOOM_HASHES: u32 = 9;
/// The share of its slots to which the quotient filter is filled.
const QUOTIENT_LOAD: f64 = 0.9;
/// The rate of the paper's filter, for structures that are built for a rate.
const FPR: f64 = 0.0019;

/// The paper's row of table 3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Items over the paper's 2^27 slots.
    pub(super) items: f64,
    pub(super) bits: f64,
    /// In percent.
    pub(super) fpr: f64,
    /// Million keys per second.
    pub(super) speed: f64,
}

/// How far a structure is filled, over the slots of the paper's filter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fill {
    /// To the first refusal.
    Refusal,
    /// To this load of its slots.
    Load(f64),
    /// With this many keys, for those without slots.
    Keys(f64),
}

impl Fill {
    /// Keys at which filling ends, if there is no refusal before, and keys at occupancy 1.
    pub(super) fn limit(self, slots: u64) -> (u64, u64) {
        match self {
            Self::Refusal => (u64::MAX, slots),
            Self::Load(load) => (at_load(slots, load), slots),
            Self::Keys(share) => (at_load(slots, share), at_load(slots, share)),
        }
    }
}

/// A structure to be measured.
pub(super) struct Structure {
    pub(super) name: &'static str,
    pub(super) fill: Fill,
    pub(super) paper: Option<Row>,
    /// Cache misses per lookup in the paper's table 1.
    pub(super) misses: Option<f64>,
    pub(super) make: fn(u64) -> Result<Box<dyn Subject>>,
}

/// The paper's six, then ours.
pub(super) fn all() -> Vec<Structure> {
    let bloom_keys = SLOT_BITS as f64 / BLOOM_BITS;
    let k = f64::from(BLOOM_HASHES);
    let row = |million: f64, bits, fpr, speed| {
        let items = million * 1e6 / f64::from(1 << 27);
        Some(Row { items, bits, fpr, speed })
    };
    let structure = |name, fill, misses, paper, make| Structure { name, fill, paper, misses, make };
    vec![
        structure("CF", Fill::Refusal, Some(2.0), row(127.78, 12.60, 0.19, 5.00), |slots| {
            cuckoo(slots, Layout::Bucketed { bucket_size: 4 }, 12)
        }),
        structure("ss-CF", Fill::Refusal, Some(2.0), row(128.04, 12.58, 0.09, 3.13), |slots| {
            cuckoo(slots, Layout::SemiSorted, 13)
        }),
        structure("BF", Fill::Keys(bloom_keys), Some(k), row(123.89, 13.00, 0.19, 3.91), |slots| {
            let bits = slots * SLOT_BITS;
            let filter = BloomFilter::with_geometry(bits, BLOOM_HASHES, KeyHasher::new(0))?;
            Ok(Box::new(Classic::fixed(filter)))
        }),
        structure(
            "blk-BF",
            Fill::Keys(bloom_keys),
            Some(1.0),
            row(123.89, 13.00, 0.43, 7.64),
            |slots| {
                let blocks = slots * SLOT_BITS / 512;
                let filter =
                    BlockedBloomFilter::with_geometry(blocks, BLOOM_HASHES, KeyHasher::new(0))?;
                Ok(Box::new(Classic::fixed(filter)))
            },
        ),
        structure(
            "QF",
            Fill::Load(QUOTIENT_LOAD),
            Some(1.0),
            row(120.80, 13.33, 0.18, 1.91),
            |slots| {
                // Three bits of metadata in addition to nine of the remainder.
                let filter = QuotientFilter::with_geometry(slots.ilog2(), 9, KeyHasher::new(0))?;
                Ok(Box::new(Classic::removable(filter)))
            },
        ),
        structure("dl-CBF", Fill::Refusal, Some(4.0), row(103.82, 15.51, 0.76, 4.78), |slots| {
            // Eleven bits of fingerprint and one that counts copies.
            let filter = DLeftCountingFilter::with_geometry(slots / 16, 11, 1, KeyHasher::new(0))?;
            Ok(Box::new(Classic::removable(filter)))
        }),
        structure("CBF", Fill::Keys(bloom_keys / 4.0), Some(k), None, |slots| {
            let counters = slots * SLOT_BITS / 4;
            let filter =
                CountingBloomFilter::with_geometry(counters, BLOOM_HASHES, KeyHasher::new(0))?;
            Ok(Box::new(Classic::removable(filter)))
        }),
        structure("gap windows", Fill::Refusal, None, None, |slots| {
            cuckoo(slots, Layout::GapWindows, 12)
        }),
        structure("growable", Fill::Load(0.95), None, None, |slots| {
            let capacity = at_load(slots, 0.95);
            let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(FPR).growth(1.0);
            Ok(Box::new(builder.build()?))
        }),
        structure("concurrent", Fill::Refusal, None, None, |slots| {
            // Five slots of twelve bits per 64-bit word.
            let capacity = at_load(slots * SLOT_BITS / 64 * 5, Layout::Words.load(12));
            let builder = ConcurrentCuckooFilter::builder().capacity(capacity);
            let filter = builder.fingerprint_bits(12).build()?;
            Ok(Box::new(filter))
        }),
        structure("shared growing", Fill::Load(0.95), None, None, |slots| {
            let builder = GrowableConcurrentCuckooFilter::builder().fpr(FPR).growth(1.0);
            Ok(Box::new(builder.capacity(at_load(slots, 0.95)).build()?))
        }),
    ]
}

fn cuckoo(slots: u64, layout: Layout, fingerprint_bits: u32) -> Result<Box<dyn Subject>> {
    Ok(Box::new(library(slots, layout, fingerprint_bits)?))
}

/// A filter of the library of this many slots, up to the rounding of its segments.
pub(super) fn library(slots: u64, layout: Layout, bits: u32) -> Result<CuckooFilter> {
    let capacity = at_load(slots, layout.load(bits));
    Ok(CuckooFilter::builder().capacity(capacity).layout(layout).fingerprint_bits(bits).build()?)
}

fn at_load(slots: u64, load: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let keys = (slots as f64 * load) as u64;
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_structures_are_of_one_size() {
        let slots = 1 << 18;
        for Structure { name, make, .. } in all() {
            let subject = make(slots).unwrap();
            let bits = subject.bytes() as f64 * 8.0 / slots as f64;
            let near = match name {
                // It begins in the sizes that its segments have.
                "growable" | "shared growing" => 8.0..18.0,
                // Its locks take 64 KB, whatever the size.
                "concurrent" => 13.9..14.2,
                _ => 11.9..12.2,
            };
            assert!(near.contains(&bits), "{name}: {bits}");
        }
    }
}
