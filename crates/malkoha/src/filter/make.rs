//! New filters and maps.

use super::{Filter, Values};
use crate::builder::{Build, Builder};
use crate::error::BuildError;
use crate::table::Fixed;
#[cfg(feature = "std")]
use crate::{concurrent::Shared, growable::Growing, locks::Locking, partitioned::Partitioned};

/// The tables of sets whose keys do not expire. Sealed: no other crate can name it.
pub trait Lasting {}

impl Lasting for Fixed {}
#[cfg(feature = "std")]
impl Lasting for Growing {}
#[cfg(feature = "std")]
impl<P: Locking> Lasting for Shared<P> {}
#[cfg(feature = "std")]
impl Lasting for Partitioned {}

impl<T, C> Filter<T, C>
where
    Self: Build,
{
    /// A builder, for more options than `with_capacity` has.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl<T: Lasting> Filter<T>
where
    Self: Build,
{
    /// A filter for `capacity` keys with at most this false-positive rate when it holds them. One
    /// that grows begins with room for `capacity` keys, and keeps to the rate at any size.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }
}

impl<T> Filter<T, Values>
where
    Self: Build,
{
    /// A map for `capacity` keys with values of at most `value_bits` bits: 1 to 64, or 0 to 64 in
    /// one that grows. A key that was not inserted has on average at most `fpr` candidates. A map
    /// that grows begins with room for `capacity` keys, and keeps to the rate at any size.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64, value_bits: u32) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).value_bits(value_bits).build()
    }
}
