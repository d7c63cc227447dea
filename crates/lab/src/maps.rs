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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use crate::subject::{How, Operation};

    #[test]
    fn maps_and_hash_tables_find_the_same() {
        let keys: Vec<u64> = (0..2_000).map(|position| Keys::new(1).key(position)).collect();
        let mut found = vec![false; keys.len()];
        for contender in contenders() {
            let (name, mut table) = (&contender.name, (contender.make)(2_000).unwrap());
            let (one, many) = keys.split_at(1_000);
            table.insert_all(How::Single, one, &mut Vec::new());
            table.insert_all(table.fastest(Operation::Insert), many, &mut Vec::new());
            for how in [How::Single, table.fastest(Operation::Find)] {
                assert_eq!(table.find_all(how, &keys, &mut found), 2_000, "{name}");
            }
            assert!(table.load().is_some_and(|load| (0.2..1.0).contains(&load)), "{name}");
            let how = table.fastest(Operation::Remove);
            assert_eq!(table.remove_all(How::Single, one) + table.remove_all(how, many), 2_000);
            assert_eq!(table.find_all(How::Single, &keys, &mut found), 0, "{name}");
        }
    }
}
