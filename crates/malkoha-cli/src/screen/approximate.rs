//! Lines that are in a filter, with its rate of false positives.

use anyhow::Result;
use malkoha::{CuckooFilter, KeyHasher};

use super::Matcher;
use crate::filter::Lookup;
use crate::input::{Texts, split};

/// A filter of lines.
pub(crate) struct Approximate(pub(crate) Box<dyn Lookup>);

/// A filter of the distinct lines of lists.
///
/// A line that already seems to be in is skipped: it will be found anyway, and nothing is ever
/// removed from this filter.
pub(crate) fn filter_of(texts: &Texts, fpr: f64, hasher: KeyHasher) -> Result<CuckooFilter> {
    let capacity = texts.count_lines().max(1);
    let mut filter =
        CuckooFilter::builder().capacity(capacity).fpr(fpr).with_hasher(hasher).build()?;
    for (_, list) in texts.lists() {
        split(list, texts.separator(), |lines| {
            filter.insert_unique_many(lines).map_err(|refusal| refusal.error)?;
            Ok(())
        })?;
    }
    Ok(filter)
}

impl Matcher for Approximate {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let Self(filter) = self;
        let hasher = filter.hasher();
        let hashes: Vec<u64> = lines.iter().map(|line| hasher.hash_bytes(line)).collect();
        filter.contains_hashes(&hashes, found);
        Ok(())
    }
}
