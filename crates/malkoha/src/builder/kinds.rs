//! The options that each kind of fixed size has, and those that it refuses.

use super::plan::PAPER;
use super::{Build, Options, Plan, Planned};
use crate::error::BuildError;
use crate::expiry::{Expiring, Window};
use crate::filter::{Content, CuckooFilter, CuckooMap, ExpiringCuckooFilter, Filter};
use crate::geometry::MAX_CAPACITY;
use crate::params;
use crate::table::Fixed;

impl Planned for CuckooFilter {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        let missing = [Options::NO_GROWTH, Options::NO_VALUES, Options::NO_EXPIRY];
        options.check("filter of fixed size", &missing)?;
        options.plan(0, options.layout)
    }
}

impl Planned for CuckooMap {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        options.check("map of fixed size", &[Options::NO_GROWTH, Options::NO_EXPIRY])?;
        let value_bits = options.value_bits.unwrap_or(0);
        if value_bits == 0 {
            return Err(BuildError::ValueBits(value_bits));
        }
        options.plan(value_bits, Some(options.layout.unwrap_or(PAPER)))
    }
}

impl Planned for ExpiringCuckooFilter {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        options.plan_expiring(options.window()?)
    }
}

impl Build for ExpiringCuckooFilter {
    fn build(options: &Options) -> Result<Self, BuildError> {
        let window = options.window()?;
        let Plan { geometry, max_kicks, capacity, .. } = options.plan_expiring(window)?;
        let table = Fixed::new(geometry, max_kicks, window.kept(capacity))?;
        let table = Expiring::new(table, window, capacity);
        Ok(Self::new(table.expect("planned for ages"), options.hasher))
    }
}

impl Options {
    /// The window of a kind whose keys expire.
    pub(super) fn window(&self) -> Result<Window, BuildError> {
        Window::new(self.ttl.unwrap_or(0), self.resolution)
    }

    /// A table of fixed size for the keys that such a window keeps.
    fn plan_expiring(&self, window: Window) -> Result<Plan, BuildError> {
        let missing = [Options::NO_GROWTH, Options::NO_VALUES, Options::NO_LAYOUT];
        self.check("filter of fixed size whose keys expire", &missing)?;
        let (capacity, age_bits) = (self.capacity.unwrap_or(0), window.label_bits());
        let kept = self.capacity.map(|keys| kept(keys, window)).transpose()?;
        let kept = Self { capacity: kept, ..*self };
        let most = Fixed::most_fingerprint_bits(age_bits);
        match (kept.plan(age_bits, Some(PAPER)), self.fpr) {
            (Ok(plan), _) if plan.geometry.fingerprint_bits <= most => {
                let bits_per_key = params::float(plan.bytes) * 8.0 / params::float(capacity);
                Ok(Plan { capacity, bits_per_key, ..plan })
            }
            (Ok(_) | Err(BuildError::FprTooSmall { .. }), Some(asked)) => {
                let longest = Self { fpr: None, fingerprint_bits: Some(most), ..kept };
                let reachable = longest.plan(age_bits, Some(PAPER))?.fpr;
                Err(BuildError::FprTooSmall { asked, reachable })
            }
            (Ok(_), None) => {
                let what =
                    "fingerprints and ages of more than 30 bits together: choose shorter ones";
                Err(BuildError::Layout { layout: PAPER.name(), what })
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// The keys that such a window keeps of a filter for this many.
pub(super) fn kept(capacity: u64, window: Window) -> Result<u64, BuildError> {
    match window.kept(capacity) {
        _ if capacity > MAX_CAPACITY => Err(BuildError::Capacity(capacity)),
        kept if kept > MAX_CAPACITY => Err(BuildError::Option {
            kind: "filter whose keys expire",
            option: "capacity of more than 2^36 keys, those of one more step included",
            remedy: "ask for fewer, or a finer resolution",
        }),
        kept => Ok(kept),
    }
}

impl<C: Content> Build for Filter<Fixed, C>
where
    Self: Planned,
{
    fn build(options: &Options) -> Result<Self, BuildError> {
        let Plan { geometry, max_kicks, capacity, .. } = Self::plan(options)?;
        let table = Fixed::new(geometry, max_kicks, capacity)?;
        Ok(Self::new(table, options.hasher))
    }
}

/// An option that a kind does not have: whether it was given, its name, and the remedy.
pub(super) type Missing = (fn(&Options) -> bool, &'static str, &'static str);

impl Options {
    pub(super) const NO_GROWTH: Missing =
        (|options| options.growth.is_some(), "growth", "build a growable one, or leave it out");
    pub(super) const NO_VALUES: Missing =
        (|options| options.value_bits.is_some(), "values", "build a map, or leave them out");
    pub(super) const NO_EXPIRY: Missing = (
        |options| options.ttl.is_some() || options.resolution.is_some(),
        "keys that expire",
        "build an expiring one, or leave the time out",
    );
    pub(super) const NO_LAYOUT: Missing =
        (|options| options.layout.is_some(), "choice of layout", "leave it out");

    pub(super) fn check(&self, kind: &'static str, missing: &[Missing]) -> Result<(), BuildError> {
        match missing.iter().find(|(is_given, ..)| is_given(self)) {
            Some(&(_, option, remedy)) => Err(BuildError::Option { kind, option, remedy }),
            None => Ok(()),
        }
    }
}
