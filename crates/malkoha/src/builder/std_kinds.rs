//! The options of the kinds that need `std`: those that grow, and those that threads share.

use super::kinds::{Missing, kept};
use super::{Build, Options, Plan, Planned};
use crate::concurrent::Shared;
use crate::error::BuildError;
use crate::expiry::{Expiring, Window};
use crate::filter::{Content, Filter, GrowableExpiringCuckooFilter, Sealed};
use crate::geometry::Layout;
use crate::growable::{Growing, Shape};
use crate::locks::Locking;
use crate::partitioned::Partitioned;

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
        let (shape, buckets, window, capacity) = options.growing_ages()?;
        let table = Growing::new(shape, buckets, window.kept(capacity))?;
        let table = Expiring::new(table, window, capacity);
        Ok(Self::new(table.expect("built for ages"), options.hasher))
    }
}

impl Build for Filter<Partitioned<Expiring<Growing>>> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let (shape, buckets, window, capacity) = options.growing_ages()?;
        let of = |table| Expiring::new(table, window, capacity).expect("built for ages");
        let capacities = [capacity, window.kept(capacity)];
        Ok(Self::new(Partitioned::new(shape, buckets, capacities, of)?, options.hasher))
    }
}

impl<C: Content> Build for Filter<Growing, C> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let (shape, buckets, capacity) = options.growing::<C>()?;
        Ok(Self::new(Growing::new(shape, buckets, capacity)?, options.hasher))
    }
}

impl<C: Content> Build for Filter<Partitioned, C> {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let (shape, buckets, capacity) = options.growing::<C>()?;
        let table = Partitioned::new(shape, buckets, [capacity; 2], |table| table)?;
        Ok(Self::new(table, options.hasher))
    }
}

impl Options {
    /// The shape of a growing table, the buckets of its first segments, and its capacity.
    fn growing<C: Content>(&self) -> Result<(Shape, u32, u64), BuildError> {
        let fixed_only =
            [Options::NO_LAYOUT, Options::NO_BITS, Options::NO_KICKS, Options::NO_EXPIRY];
        let value_bits = if <C as Sealed>::IS_MAP {
            self.check("growable map", &fixed_only)?;
            self.value_bits.unwrap_or(u64::BITS)
        } else {
            self.check("growable filter", &fixed_only)?;
            self.check("growable filter", &[Options::NO_VALUES])?;
            0
        };
        let (capacity, fpr) = self.growing_from();
        let (shape, buckets) = Shape::new(capacity, fpr, self.growth, value_bits)?;
        Ok((shape, buckets, capacity))
    }

    /// The same for keys that expire, with the window in which they do.
    fn growing_ages(&self) -> Result<(Shape, u32, Window, u64), BuildError> {
        let missing = [Options::NO_LAYOUT, Options::NO_BITS, Options::NO_KICKS, Options::NO_VALUES];
        self.check("growable filter whose keys expire", &missing)?;
        let window = self.window()?;
        let (capacity, fpr) = self.growing_from();
        let kept = kept(capacity, window)?;
        let (shape, buckets) = Shape::of(kept, fpr, self.growth, (window.label_bits(), true))?;
        Ok((shape, buckets, window, capacity))
    }

    /// The capacity and the rate of a growing table, which grows from one key as well as from any
    /// other number.
    fn growing_from(&self) -> (u64, f64) {
        (self.capacity.unwrap_or(1), self.fpr.unwrap_or(DEFAULT_FPR))
    }

    const NO_BITS: Missing = (
        |options| options.fingerprint_bits.is_some(),
        "choice of fingerprint size",
        "give a false-positive rate instead",
    );
    const NO_KICKS: Missing =
        (|options| options.max_kicks.is_some(), "choice of kicks", "leave it out");
}
