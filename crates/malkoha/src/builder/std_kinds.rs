//! The options of the kinds that need `std`: those that grow, and those that threads share.

use super::kinds::Missing;
use super::{Build, Options, Plan, Planned};
use crate::branched::Branched;
use crate::concurrent::Shared;
use crate::error::BuildError;
use crate::expiry::Expiring;
use crate::filter::{
    ConcurrentCuckooMap, ConcurrentExpiringCuckooFilter, Content, CuckooMap, ExpiringCuckooFilter,
    Filter, GrowableConcurrentCuckooMap, GrowableConcurrentExpiringCuckooFilter, GrowableCuckooMap,
    GrowableExpiringCuckooFilter, Sealed,
};
use crate::geometry::Layout;
use crate::growable::{Growing, Shape};
use crate::locks::Locking;
use crate::sharded::{MAX_SHARDS, Sharded, fixed_shards, growing_share};

/// The rate of a growable filter that was given none.
const DEFAULT_FPR: f64 = 0.001;

impl<P: Locking> Planned for Filter<Shared<P>> {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        let kind = "filter of fixed size that threads share";
        options.check(kind, &[Options::NO_GROWTH, Options::NO_VALUES, Options::NO_EXPIRY])?;
        match options.layout {
            None | Some(Layout::Words) => options.plan(0, Some(Layout::Words)),
            Some(other) => Err(BuildError::Layout {
                layout: other.name(),
                what: "threads that change it: leave the layout out, or choose words",
            }),
        }
    }
}

impl<P: Locking> Build for Filter<Shared<P>> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let Plan { geometry, max_kicks, capacity, .. } = Self::plan(options)?;
        let table = Shared::fixed(geometry, max_kicks, capacity)?;
        Ok(Self::new(table, options.hasher))
    }
}

impl Build for GrowableExpiringCuckooFilter {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let missing = [Options::NO_LAYOUT, Options::NO_BITS, Options::NO_KICKS, Options::NO_VALUES];
        options.check("growable filter whose keys expire", &missing)?;
        let window = options.window()?;
        let (capacity, fpr) = (options.capacity.unwrap_or(1), options.fpr.unwrap_or(DEFAULT_FPR));
        let kept = window.kept(capacity);
        let (shape, buckets) = Shape::of_ages(kept, fpr, options.growth, window.label_bits())?;
        let table = Expiring::new(Growing::new(shape, buckets, kept)?, window, capacity);
        Ok(Self::new(table.expect("built for ages"), options.hasher))
    }
}

impl Build for ConcurrentExpiringCuckooFilter {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let capacity = options.capacity.unwrap_or(0);
        let (shards, share) = fixed_shards(capacity)?;
        let tables = shards_of::<ExpiringCuckooFilter>(options, shards, share)?;
        let tables = tables.into_iter().map(|filter| filter.table).collect();
        Ok(Self::new(Sharded::of(tables, capacity), options.hasher))
    }
}

impl Build for GrowableConcurrentExpiringCuckooFilter {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let capacity = options.capacity.unwrap_or(1);
        let share = growing_share(capacity)?;
        let tables = shards_of::<GrowableExpiringCuckooFilter>(options, MAX_SHARDS, share)?;
        let tables = tables.into_iter().map(|filter| filter.table).collect();
        Ok(Self::new(Sharded::of(tables, capacity), options.hasher))
    }
}

impl<C: Content> Build for Filter<Growing, C> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let fixed_only =
            [Options::NO_LAYOUT, Options::NO_BITS, Options::NO_KICKS, Options::NO_EXPIRY];
        let value_bits = if <C as Sealed>::IS_MAP {
            options.check("growable map", &fixed_only)?;
            options.value_bits.unwrap_or(u64::BITS)
        } else {
            options.check("growable filter", &fixed_only)?;
            options.check("growable filter", &[Options::NO_VALUES])?;
            0
        };
        // It grows from one key as well as from any number.
        let (capacity, fpr) = (options.capacity.unwrap_or(1), options.fpr.unwrap_or(DEFAULT_FPR));
        let (shape, buckets) = Shape::new(capacity, fpr, options.growth, value_bits)?;
        let table = Growing::new(shape, buckets, capacity)?;
        Ok(Self::new(table, options.hasher))
    }
}

impl Build for ConcurrentCuckooMap {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let capacity = options.capacity.unwrap_or(0);
        let (shards, share) = fixed_shards(capacity)?;
        let tables = shards_of::<CuckooMap>(options, shards, share)?;
        let tables = tables.into_iter().map(|map| map.table).collect();
        Ok(Self::new(Sharded::of(tables, capacity), options.hasher))
    }
}

impl Build for GrowableConcurrentCuckooMap {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let capacity = options.capacity.unwrap_or(1);
        let share = growing_share(capacity)?;
        let tables = shards_of::<GrowableCuckooMap>(options, MAX_SHARDS, share)?;
        let tables = tables.into_iter().map(|map| map.table).collect();
        Ok(Self::new(Sharded::of(tables, capacity), options.hasher))
    }
}

/// The shards of a filter or map, each for `share` keys.
fn shards_of<F: Build>(options: &Options, shards: usize, share: u64) -> Result<Vec<F>, BuildError> {
    let options = Options { capacity: Some(share), ..*options };
    (0..shards).map(|_| F::build(&options)).collect()
}

impl Build for Filter<Branched> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let kind = "growable filter that threads share";
        options.check(kind, &[Options::NO_LAYOUT, Options::NO_BITS, Options::NO_KICKS])?;
        options.check(kind, &[Options::NO_VALUES, Options::NO_EXPIRY])?;
        let (capacity, fpr) = (options.capacity.unwrap_or(1), options.fpr.unwrap_or(DEFAULT_FPR));
        let (shape, buckets) = Shape::new(capacity, fpr, options.growth, 0)?;
        Ok(Self::new(Branched::new(shape, buckets, capacity)?, options.hasher))
    }
}

impl Options {
    const NO_BITS: Missing = (
        |options| options.fingerprint_bits.is_some(),
        "choice of fingerprint size",
        "give a false-positive rate instead",
    );
    const NO_KICKS: Missing =
        (|options| options.max_kicks.is_some(), "choice of kicks", "leave it out");
}
