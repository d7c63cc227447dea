//! What batches say of each key is what single calls say, whichever chunk or partition it is in.

use malkoha::{
    Builder, ConcurrentCuckooFilter, CuckooFilter, CuckooMap, ExpiringCuckooFilter,
    GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap,
    GrowableConcurrentExpiringCuckooFilter, GrowableCuckooFilter, GrowableCuckooMap, InsertError,
};

fn spread(n: u64) -> u64 {
    (n + 1).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(31).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Inserts hashes, a third of which repeat earlier ones, by a batch and one by one.
macro_rules! batch_of_new_keys {
    ($($name:ident, $builder:expr, $batch:ident, $one:ident;)*) => {$(
        #[test]
        fn $name() {
            let ([mut batch, mut single], mut hashes) =
                ([(); 2].map(|()| $builder.build().unwrap()), Vec::new());
            for i in 0..9_000 {
                hashes.push(if i % 3 == 0 && i > 0 { hashes[i / 2] } else { spread(i as u64) });
            }
            // The former contents of `new` make no difference.
            for before in [true, false] {
                let mut new = vec![before; hashes.len()];
                let (one, all) = (&mut single, &mut batch);
                let refused = all.$batch(&hashes, &mut new).map_or_else(|it| it.refused, |()| vec![]);
                let expected: Vec<_> = hashes.iter().map(|&hash| one.$one(hash)).collect();
                let is_refused = |&i: &usize| expected[i].is_err();
                assert_eq!(refused, (0..hashes.len()).filter(is_refused).collect::<Vec<_>>());
                assert!(new.iter().zip(&expected).all(|(&new, it)| new == (*it == Ok(true))));
                assert_eq!(all.len(), one.len());
            }
        }
    )*};
}

fn few<F>() -> Builder<F> {
    Builder::new().capacity(2_000).fpr(1e-4)
}

batch_of_new_keys! {
    fixed, few::<CuckooFilter>(), insert_unique_hashes, insert_unique_hash;
    shared, few::<ConcurrentCuckooFilter>(), insert_unique_hashes, insert_unique_hash;
    growing, few::<GrowableCuckooFilter>(), insert_unique_hashes, insert_unique_hash;
    growing_shared, few::<GrowableConcurrentCuckooFilter>(), insert_unique_hashes, insert_unique_hash;
    expiring, few::<ExpiringCuckooFilter>().expire_after(60), insert_unique_hashes, insert_unique_hash;
    refreshed, few::<ExpiringCuckooFilter>().expire_after(60), refresh_hashes, refresh_hash;
    refreshed_shared, few::<GrowableConcurrentExpiringCuckooFilter>().expire_after(60),
        refresh_hashes, refresh_hash;
}

macro_rules! pairs {
    ($($name:ident: $map:ty;)*) => {$(
        #[test]
        fn $name() {
            let builder = Builder::<$map>::new().value_bits(16).capacity(120_000).fpr(1e-6);
            #[allow(unused_mut, reason = "some are shared")]
            let mut map = builder.build().unwrap();
            let pairs: Vec<(u64, u64)> = (0..60_000).map(|key| (key, spread(key) & 0xffff)).collect();
            map.insert_many(&pairs).unwrap();
            assert!(pairs.iter().all(|&(key, value)| map.get(key).any(|it| it == value)));

            let absent = |&(key, value): &(u64, u64)| (key + u64::from(key % 3 == 0) * (1 << 40), value);
            let removed = map.remove_many(&pairs.iter().map(absent).collect::<Vec<_>>());
            let unlike = removed.iter().zip(0_u64..).filter(|&(&it, key)| it != (key % 3 != 0));
            // Of the absent ones, fingerprint and value of another key: 20,000 * 10^-6 expected.
            assert!(unlike.count() < 5);
            let left = pairs.len() - removed.iter().filter(|&&removed| removed).count();
            assert_eq!(map.len(), left as u64);

            let mut large: Vec<(u64, u64)> = (0..40_000).map(|key| (key + (1 << 50), 5)).collect();
            (large[3].1, large[30_000].1) = (1 << 20, 1 << 20);
            let error = map.insert_many(&large).unwrap_err();
            assert_eq!(error.refused, [3, 30_000]);
            assert!(matches!(error.error, InsertError::Value { .. }));
        }
    )*};
}

pairs! {
    pairs_of_fixed_maps: CuckooMap;
    pairs_of_growing_maps: GrowableCuckooMap;
    pairs_of_shared_maps: GrowableConcurrentCuckooMap;
}
