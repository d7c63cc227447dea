//! Looks up in a filter's file without reading it whole, and opens files of any kind.

use std::error::Error;

use malkoha::{AnyFilter, CuckooFilter, GrowableCuckooMap, Key, MappedFilter};

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (set, map) = (folder.path().join("set.mlk"), folder.path().join("map.mlk"));
    let keys: Vec<u64> = (0..100_000).collect();
    CuckooFilter::builder().fpr(0.001).build_from(&keys)?.save(&set)?;
    let mut lengths = GrowableCuckooMap::with_capacity(10, 0.001, 8)?;
    lengths.insert_many(&[("koel", 4), ("magpie", 6)])?;
    lengths.save(&map)?;

    // SAFETY: nobody writes to the file while it is mapped; `save` replaces files by a rename.
    let mapped = unsafe { MappedFilter::map(&set) }?;
    // `map` checks the header alone. This reads all, once, if the file's origin is in doubt.
    mapped.verify()?;
    assert!(mapped.contains_many(&keys).iter().all(|&found| found));

    for path in [&set, &map] {
        let any = AnyFilter::open(path)?;
        let has_koel = any.contains_hash("koel".hash_with(any.hasher()));
        println!("{}: {:?} of {} keys, koel: {has_koel}", path.display(), any.kind(), any.len());
        match any {
            AnyFilter::Set(filter) => assert!(filter == mapped),
            AnyFilter::GrowableMap(map) => assert_eq!(map.get("koel").next(), Some(4)),
            other => return Err(format!("unexpected: {:?}", other.kind()).into()),
        }
    }
    Ok(())
}
