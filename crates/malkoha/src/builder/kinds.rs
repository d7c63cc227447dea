//! What each kind of fixed size takes of the options, and what it does not have.

use super::plan::PAPER;
use super::{Build, Options, Plan, Planned};
use crate::error::BuildError;
use crate::filter::{Content, CuckooFilter, CuckooMap, Filter};
use crate::table::Fixed;

impl Planned for CuckooFilter {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        options.check("filter of fixed size", &[Options::NO_GROWTH, Options::NO_VALUES])?;
        options.plan(0, options.layout)
    }
}

impl Planned for CuckooMap {
    fn plan(options: &Options) -> Result<Plan, BuildError> {
        options.check("map of fixed size", &[Options::NO_GROWTH])?;
        let value_bits = options.value_bits.unwrap_or(0);
        if value_bits == 0 {
            return Err(BuildError::ValueBits(value_bits));
        }
        options.plan(value_bits, Some(options.layout.unwrap_or(PAPER)))
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

/// An option that a kind does not have: whether it was given, its name, and what to do instead.
pub(super) type Missing = (fn(&Options) -> bool, &'static str, &'static str);

impl Options {
    pub(super) const NO_GROWTH: Missing =
        (|options| options.growth.is_some(), "growth", "build a growable one, or leave it out");
    pub(super) const NO_VALUES: Missing =
        (|options| options.value_bits.is_some(), "values", "build a map, or leave them out");

    pub(super) fn check(&self, kind: &'static str, missing: &[Missing]) -> Result<(), BuildError> {
        match missing.iter().find(|(is_given, ..)| is_given(self)) {
            Some(&(_, option, remedy)) => Err(BuildError::Option { kind, option, remedy }),
            None => Ok(()),
        }
    }
}
