//! The band keys of the kept texts: one filter for all bands, or a map to their numbers.

use malkoha::{BuildError, GrowableCuckooFilter, GrowableCuckooMap, InsertError, KeyHasher};

/// Bits of a text's number.
pub(crate) const NUMBER_BITS: u32 = 40;

#[derive(Clone, Debug)]
pub(crate) enum Near {
    Set(GrowableCuckooFilter),
    Map(GrowableCuckooMap),
}

/// A text with band keys in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    /// 0 where there are none.
    pub(crate) number: u64,
    /// How many bands agree.
    pub(crate) bands: u32,
}

impl Near {
    /// For at first `keys` band keys, each of which is found wrongly at a rate of at most `fpr`.
    pub(crate) fn new(
        hasher: KeyHasher,
        keys: u64,
        fpr: f64,
        numbered: bool,
    ) -> Result<Self, BuildError> {
        Ok(if numbered {
            let builder = GrowableCuckooMap::builder().value_bits(NUMBER_BITS);
            Self::Map(builder.capacity(keys).fpr(fpr).with_hasher(hasher).build()?)
        } else {
            let builder = GrowableCuckooFilter::builder().growth(f64::INFINITY);
            Self::Set(builder.capacity(keys).fpr(fpr).with_hasher(hasher).build()?)
        })
    }

    pub(crate) fn prefetch(&self, keys: &[u64]) {
        match self {
            Self::Set(filter) => keys.iter().for_each(|&key| filter.prefetch_hash(key)),
            Self::Map(map) => keys.iter().for_each(|&key| map.prefetch_hash(key)),
        }
    }

    /// The kept text that agrees with a text in most bands, and the first of these.
    pub(crate) fn find(&self, keys: &[u64], found: &mut Vec<u64>) -> Option<Match> {
        match self {
            Self::Set(filter) => {
                let mut flags = [false; 64];
                let mut bands = 0;
                for keys in keys.chunks(flags.len()) {
                    let flags = &mut flags[..keys.len()];
                    filter.contains_hashes(keys, flags);
                    bands += flags.iter().map(|&found| u32::from(found)).sum::<u32>();
                }
                (bands > 0).then_some(Match { number: 0, bands })
            }
            Self::Map(map) => {
                found.clear();
                map.get_hashes(keys, |_, number| found.push(number));
                found.sort_unstable();
                let agreeing = found.chunk_by(|a, b| a == b);
                let matches = agreeing.map(|equal| Match {
                    number: equal[0],
                    bands: u32::try_from(equal.len()).unwrap_or(u32::MAX),
                });
                matches.min_by_key(|it| (u32::MAX - it.bands, it.number))
            }
        }
    }

    /// `pairs` is memory to use.
    pub(crate) fn insert(
        &mut self,
        keys: &[u64],
        number: u64,
        pairs: &mut Vec<(u64, u64)>,
    ) -> Result<(), InsertError> {
        match self {
            Self::Set(filter) => filter.insert_hashes(keys).map_err(|refusal| refusal.error),
            Self::Map(map) => {
                pairs.clear();
                pairs.extend(keys.iter().map(|&key| (key, number)));
                map.insert_hashes(pairs).map_err(|refusal| refusal.error)
            }
        }
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        match self {
            Self::Set(filter) => filter.size_in_bytes(),
            Self::Map(map) => map.size_in_bytes(),
        }
    }

    pub(crate) fn expected_fpr(&self) -> f64 {
        match self {
            Self::Set(filter) => filter.expected_fpr(),
            Self::Map(map) => map.expected_fpr(),
        }
    }
}
