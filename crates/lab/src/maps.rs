//! Maps and the cuckoo hash table, with ordinary hash tables: the standard library's, and
//! hashbrown, which is the same table with a faster hasher.

use std::collections::HashMap;

use hashbrown::HashMap as Hashbrown;
use malkoha::{CuckooMap, GrowableCuckooMap, KeyHasher};
use malkoha_classic::{BucketedCuckooTable, Growth};

use crate::filters::VALUE_BITS;
use crate::subject::Contender;

/// Candidates of a key that is not in, on average.
const FPR: f64 = 0.002;

/// All of them. Hash tables are made for their keys, as the cuckoo tables are, and also grow from
/// nothing.
pub(crate) fn contenders() -> Vec<Contender> {
    type Table<const D: usize, const B: usize> = BucketedCuckooTable<u64, u32, D, B>;
    let hasher = KeyHasher::new(0);
    vec![
        Contender::new("CuckooMap", true, |keys| {
            Ok(CuckooMap::with_capacity(keys, FPR, VALUE_BITS)?)
        }),
        Contender::new("GrowableCuckooMap, from a thousandth", true, |keys| {
            Ok(GrowableCuckooMap::with_capacity(keys / 1000 + 1, FPR, VALUE_BITS)?)
        }),
        Contender::new("cuckoo table, 2 x 4", true, move |keys| {
            Ok(Table::<2, 4>::with_capacity_and_hasher(keys, hasher)?)
        }),
        Contender::new("cuckoo table, 2 x 4, growing", true, |_| {
            Ok(Table::<2, 4>::with_capacity(64)?.with_growth(Growth::Rehash))
        }),
        Contender::new("cuckoo table, 4 x 2", true, move |keys| {
            Ok(Table::<4, 2>::with_capacity_and_hasher(keys, hasher)?)
        }),
        Contender::new("HashMap of std", false, |keys| {
            Ok(HashMap::<u64, u32>::with_capacity(usize::try_from(keys)?))
        }),
        Contender::new("HashMap of std, growing", false, |_| Ok(HashMap::<u64, u32>::new())),
        Contender::new("hashbrown", false, |keys| {
            Ok(Hashbrown::<u64, u32>::with_capacity(usize::try_from(keys)?))
        }),
        Contender::new("hashbrown, growing", false, |_| Ok(Hashbrown::<u64, u32>::new())),
    ]
}
