//! Lines that are in a filter, with its rate of false positives.

use anyhow::Result;
use malkoha::{CuckooFilter, KeyHasher};

use super::Matcher;
use crate::filter::Lookup;
use crate::input::Texts;

/// A filter of lines.
pub(crate) struct Approximate(pub(crate) Box<dyn Lookup>);

/// A filter of the distinct lines of lists.
///
/// A line that already seems to be in is skipped: it will be found anyway, and nothing is ever
/// removed from this filter.
pub(crate) fn filter_of(texts: &Texts, fpr: f64, hasher: KeyHasher) -> Result<CuckooFilter> {
    let capacity = texts.most_records().max(1);
    let mut filter =
        CuckooFilter::builder().capacity(capacity).fpr(fpr).with_hasher(hasher).build()?;
    texts.read(|_, batch| {
        let keys: Vec<&[u8]> = batch.fit().map(|(_, key)| key).collect();
        filter.insert_unique_many(&keys).map_err(|refusal| refusal.error)?;
        Ok(())
    })?;
    Ok(filter)
}

impl Matcher for Approximate {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        self.0.contains_keys(lines, found);
        Ok(())
    }

    fn fpr(&self) -> f64 {
        self.0.facts().fpr
    }
}

/// Digests, which lists have in lower or upper case.
pub(crate) struct Digests(pub(crate) Box<dyn Matcher>);

impl Matcher for Digests {
    fn find(&self, keys: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let Self(digests) = self;
        digests.find(keys, found)?;
        let upper: Vec<_> = keys.iter().map(|key| key.to_ascii_uppercase()).collect();
        let upper: Vec<&[u8]> = upper.iter().map(Vec::as_slice).collect();
        let mut others = vec![false; keys.len()];
        digests.find(&upper, &mut others)?;
        found.iter_mut().zip(others).for_each(|(found, other)| *found |= other);
        Ok(())
    }

    fn fpr(&self) -> f64 {
        2.0 * self.0.fpr()
    }
}
