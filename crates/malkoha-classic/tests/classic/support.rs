//! Keys, and a small filter of every kind.

use malkoha::KeyHasher;
use malkoha_classic::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, DLeftCountingFilter, Filter,
    QuotientFilter,
};

/// A filter type, and how to make a small one of it.
pub(crate) trait Sample: Filter {
    /// So tight that positions collide, runs wrap around and buckets overflow.
    fn tiny() -> Self;
}

macro_rules! samples {
    ($($type:ident => $tiny:expr),* $(,)?) => {$(
        impl Sample for $type {
            fn tiny() -> Self {
                $tiny.unwrap()
            }
        }
    )*};
}
samples! {
    BloomFilter => BloomFilter::with_geometry(300, 3, KeyHasher::new(1)),
    BlockedBloomFilter => BlockedBloomFilter::with_geometry(3, 4, KeyHasher::new(1)),
    CountingBloomFilter => CountingBloomFilter::with_geometry(301, 3, KeyHasher::new(1)),
    QuotientFilter => QuotientFilter::with_geometry(8, 3, KeyHasher::new(1)),
    DLeftCountingFilter => DLeftCountingFilter::with_geometry(17, 6, 2, KeyHasher::new(1)),
}

/// Runs a generic test for every filter type: one module with one test each.
macro_rules! for_all_filters {
    ($($test:ident),* $(,)?) => { for_filters! {
        ($($test),*),
        bloom: malkoha_classic::BloomFilter,
        blocked: malkoha_classic::BlockedBloomFilter,
        counting: malkoha_classic::CountingBloomFilter,
        quotient: malkoha_classic::QuotientFilter,
        d_left: malkoha_classic::DLeftCountingFilter,
    } };
}

/// As `for_all_filters`, for those from which keys can be removed.
macro_rules! for_removable_filters {
    ($($test:ident),* $(,)?) => { for_filters! {
        ($($test),*),
        counting_removes: malkoha_classic::CountingBloomFilter,
        quotient_removes: malkoha_classic::QuotientFilter,
        d_left_removes: malkoha_classic::DLeftCountingFilter,
    } };
}

macro_rules! for_filters {
    ($tests:tt, $($name:ident: $type:ty),* $(,)?) => {$(
        for_filters! { @module $name $type, $tests }
    )*};
    (@module $name:ident $type:ty, ($($test:ident),*)) => {
        mod $name {
            $(
                #[test]
                fn $test() {
                    super::$test::<$type>();
                }
            )*
        }
    };
}
/// Key number `n` of family `family`: families have no key in common.
pub(crate) fn key(family: u64, n: u64) -> u64 {
    // SplitMix64's finalizer, a permutation.
    let mut z = (family << 40 | n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

pub(crate) fn keys(family: u64, count: u64) -> Vec<u64> {
    (0..count).map(|n| key(family, n)).collect()
}
