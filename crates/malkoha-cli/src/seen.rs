//! The lines a stream has shown so far, in constant bits a line, however long it grows.

use std::f64::consts::PI;

use anyhow::{Context, Result};
use malkoha::{BuildError, Builder, CuckooFilter, KeyHasher};

/// A chain of filters, each for twice as many lines as the one before.
///
/// A new line is taken for an old one if any filter errs, so the rates of the filters are shares
/// of the asked rate that sum up to it: the i-th has `6 / (pi * i)^2` of it. These shares shrink
/// slowly, 2 log2(i) more bits a line in the i-th filter, where halving would take i more.
pub(crate) struct Seen {
    filters: Vec<CuckooFilter>,
    template: Builder,
    first_capacity: u64,
    fpr: f64,
}

impl Seen {
    /// `template` has the seed. `first_capacity` lines fit before it grows.
    pub(crate) fn new(template: Builder, first_capacity: u64, fpr: f64) -> Result<Self> {
        template.clone().capacity(first_capacity).fpr(fpr).plan()?;
        let mut seen = Self { filters: Vec::new(), template, first_capacity, fpr };
        let first = seen.filter_number(0).build().map_err(|error| match error {
            // Told in terms of what was asked for, not of the first filter's share.
            BuildError::FprTooSmall { reachable, .. } => {
                BuildError::FprTooSmall { asked: fpr, reachable: reachable / share(0) }
            }
            error => error,
        })?;
        seen.filters.push(first);
        Ok(seen)
    }

    /// The most lines it can hold, if that is less than any machine could.
    pub(crate) fn limit(&self) -> Option<u64> {
        let mut total = 0;
        for number in 0.. {
            match self.filter_number(number).plan() {
                Ok(plan) => total += plan.capacity,
                Err(BuildError::FprTooSmall { .. }) => return Some(total),
                // Beyond the largest capacity there is no need to look.
                Err(_) => break,
            }
        }
        None
    }

    pub(crate) fn hasher(&self) -> KeyHasher {
        self.filters[0].hasher()
    }

    /// Sets `new[i]` where `hashes[i]` was not there before, and remembers it.
    pub(crate) fn insert_new(&mut self, hashes: &[u64], new: &mut [bool]) -> Result<()> {
        let mut known = vec![false; hashes.len()];
        new.fill(true);
        for filter in &self.filters {
            filter.contains_hashes(hashes, &mut known);
            new.iter_mut().zip(&known).for_each(|(new, &known)| *new &= !known);
        }
        // What this batch adds goes to the filters from here on.
        let newest = self.filters.len() - 1;
        for (&hash, new) in hashes.iter().zip(new).filter(|(_, new)| **new) {
            *new = !self.filters[newest..].iter().any(|filter| filter.contains_hash(hash));
            if *new {
                self.insert(hash)?;
            }
        }
        Ok(())
    }

    fn insert(&mut self, hash: u64) -> Result<()> {
        let last = self.filters.last_mut().context("a chain has a filter")?;
        // Beyond its capacity a filter would exceed its share of the rate.
        if last.len() < last.capacity() && last.insert_hash(hash).is_ok() {
            return Ok(());
        }
        let number = self.filters.len();
        let mut filter = self.filter_number(number).build().with_context(|| {
            format!("cannot hold more than {} lines; give their number by --capacity", self.len())
        })?;
        filter.insert_hash(hash)?;
        self.filters.push(filter);
        Ok(())
    }

    fn filter_number(&self, number: usize) -> Builder {
        let doublings = u32::try_from(number).unwrap_or(u32::MAX).min(63);
        let capacity = self.first_capacity.saturating_mul(1 << doublings);
        self.template.clone().capacity(capacity).fpr(self.fpr * share(doublings))
    }

    /// Distinct lines.
    pub(crate) fn len(&self) -> u64 {
        self.filters.iter().map(CuckooFilter::len).sum()
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.filters.iter().map(CuckooFilter::size_in_bytes).sum()
    }

    /// Bits for each distinct line so far.
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub(crate) fn bits_per_line(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.len().max(1) as f64
    }

    /// The probability that the next new line would be taken for an old one: at most the sum.
    pub(crate) fn expected_fpr(&self) -> f64 {
        self.filters.iter().map(CuckooFilter::expected_fpr).sum()
    }
}

/// The share of the rate that the filter after this many doublings has.
fn share(doublings: u32) -> f64 {
    6.0 / (PI * f64::from(doublings + 1)).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use malkoha::Key;

    fn seen(first_capacity: u64, fpr: f64) -> Seen {
        Seen::new(CuckooFilter::builder(), first_capacity, fpr).unwrap()
    }

    /// Growth in the middle of a batch, repetitions on both sides of it.
    #[test]
    fn every_line_is_new_once_while_the_chain_grows() {
        let mut seen = seen(10, 1e-6);
        let hashes: Vec<u64> = (0..5000_u64).map(|n| (n / 2).hash_with(seen.hasher())).collect();
        let mut new = vec![false; 1000];
        for batch in hashes.chunks(1000) {
            seen.insert_new(batch, &mut new).unwrap();
            assert!(new.chunks(2).all(|pair| pair == [true, false]));
        }
        assert_eq!(seen.len(), 2500);
        assert!(seen.filters.len() >= 8);
        assert!(seen.expected_fpr() <= 1e-6);
        seen.insert_new(&hashes[..1000], &mut new).unwrap();
        assert!(new.iter().all(|&new| !new));
    }

    #[test]
    fn says_beforehand_how_far_it_can_grow() {
        assert_eq!(seen(1 << 20, 1e-6).limit(), None);
        let limit = seen(1 << 20, 1e-7).limit().unwrap();
        assert!((1 << 24..1 << 32).contains(&limit), "{limit}");
        assert!(Seen::new(CuckooFilter::builder(), 1000, 1e-12).is_err());
    }
}
