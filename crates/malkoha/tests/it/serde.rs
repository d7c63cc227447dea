//! Filters in the data of other programs.
#![cfg(feature = "serde")]

use malkoha::{
    Builder, ConcurrentCuckooFilter, CuckooFilter, CuckooMap, GrowableConcurrentCuckooFilter,
    GrowableConcurrentCuckooMap, GrowableCuckooFilter, GrowableCuckooMap,
};

#[test]
fn come_back_as_they_were() {
    fn check<F: serde::Serialize + serde::de::DeserializeOwned + PartialEq>(filter: &F) -> String {
        let text = serde_json::to_string(filter).unwrap();
        assert!(serde_json::from_str::<F>(&text).unwrap() == *filter);
        text
    }
    let words = ["koel", "magpie", "koel"];
    let pairs = words.map(|word| (word, word.len() as u64));
    let set = check(&CuckooFilter::try_from_iter(words, 0.01).unwrap());
    let mut map = CuckooMap::with_capacity(10, 0.01, 3).unwrap();
    map.insert_many(&pairs).unwrap();
    check(&map);
    let mut growable = GrowableCuckooFilter::with_capacity(10, 0.01).unwrap();
    growable.insert_many(&words).unwrap();
    check(&growable);
    let mut growable = GrowableCuckooMap::with_capacity(10, 0.01, 3).unwrap();
    growable.insert_many(&pairs).unwrap();
    check(&growable);

    let shared = ConcurrentCuckooFilter::with_capacity(10, 0.01).unwrap();
    shared.insert_many(&words).unwrap();
    check(&shared);
    let shared = GrowableConcurrentCuckooFilter::with_capacity(10, 0.01).unwrap();
    shared.insert_many(&words).unwrap();
    check(&shared);
    let shared: GrowableConcurrentCuckooMap =
        Builder::new().capacity(10).fpr(0.01).value_bits(3).build().unwrap();
    shared.insert_many(&pairs).unwrap();
    check(&shared);

    let error = serde_json::from_str::<CuckooMap>(&set).unwrap_err().to_string();
    assert!(error.contains("set (CuckooFilter)"), "{error}");
    let damaged = set.replacen(",77,", ",78,", 1);
    assert!(serde_json::from_str::<CuckooFilter>(&damaged).is_err());
}
