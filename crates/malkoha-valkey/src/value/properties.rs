//! The properties that a filter was reserved with.

use malkoha::{BuildError, Builder, KeyHasher};

use super::redisbloom::Chain;
use super::table::{Kind, Table};

/// Everything that CF.RESERVE can set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Properties {
    /// Items to begin with.
    pub(crate) capacity: u64,
    /// The false-positive rate to keep to, in (0, 1); 0 if it is not known, as in a filter that
    /// came from a file.
    pub(crate) error_rate: f64,
    /// Up to how many times the capacity the rate is to hold.
    pub(crate) growth: f64,
    /// Reported as given. Our buckets have four slots.
    pub(crate) bucket_size: u16,
    /// Reported as given. Our searches have a bound of their own.
    pub(crate) max_iterations: u16,
    /// 0: no growth beyond the capacity. Otherwise reported as given.
    pub(crate) expansion: u16,
}

/// How long items are remembered, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expiry {
    pub(crate) ttl: u64,
    /// How much longer they can be remembered; by default a fifteenth of that time.
    pub(crate) resolution: Option<u64>,
}

impl Expiry {
    /// The approximate number of steps in which items expire.
    fn steps(self) -> u64 {
        self.resolution.map_or(15, |step| self.ttl.div_ceil(step.max(1)))
    }
}

/// Up to this capacity a filter begins with room for [`FIRST_ITEMS`].
const SMALL: u64 = 4096;
const FIRST_ITEMS: u64 = 32;
/// The greatest growth that can be asked for.
const MAX_GROWTH: f64 = 1e9;

/// Bytes of the encoded properties.
pub(super) const PROPERTIES_BYTES: usize = 30;

impl Properties {
    pub(crate) fn of_file(table: &Table) -> Self {
        Self {
            capacity: table.capacity(),
            error_rate: 0.0,
            growth: 0.0,
            bucket_size: 2,
            max_iterations: 20,
            expansion: u16::from(table.kind() != Kind::Fixed),
        }
    }

    /// These for a filter added to RedisBloom's part; `None` if that is full and must not grow.
    pub(crate) fn added_to(self, older: &Chain) -> Option<Self> {
        let shape = older.shape();
        let least = 2 * u64::from(shape.bucket_size);
        let left = older.slots() - older.len();
        let capacity = if shape.expansion == 0 { left } else { self.capacity.max(least) };
        (capacity >= least).then_some(Self {
            capacity,
            bucket_size: shape.bucket_size,
            max_iterations: shape.max_iterations,
            expansion: shape.expansion,
            ..self
        })
    }

    /// Whether the filter may grow.
    pub(crate) const fn grows(&self) -> bool {
        self.expansion > 0
    }

    /// Whether a filter begins with less than its capacity: of many small ones most stay small.
    pub(super) fn begins_small(&self) -> bool {
        self.grows() && (FIRST_ITEMS..=SMALL).contains(&self.capacity)
    }

    /// An empty filter of these properties.
    pub(crate) fn build(
        &self,
        expiry: Option<Expiry>,
        hasher: KeyHasher,
    ) -> Result<Table, BuildError> {
        let capacity = if self.begins_small() { FIRST_ITEMS } else { self.capacity };
        #[expect(clippy::cast_precision_loss, reason = "small where they differ")]
        let begun = self.capacity as f64 / capacity as f64;
        let growth = if self.grows() { (self.growth * begun).min(MAX_GROWTH) } else { 1.0 };
        let Some(Expiry { ttl, resolution }) = expiry else {
            let builder = self.builder(capacity, growth, hasher);
            return builder.build().map(Table::Lasting);
        };
        let builder = self.builder(capacity, growth, hasher).expire_after(ttl);
        let builder = resolution.into_iter().fold(builder, Builder::resolution);
        builder.build().map(Table::Expiring)
    }

    fn builder<F>(&self, capacity: u64, growth: f64, hasher: KeyHasher) -> Builder<F> {
        let builder = Builder::new().capacity(capacity).fpr(self.error_rate).with_hasher(hasher);
        // A growth of 1 leaves a filter that grows fewer bits for more than its capacity than the
        // default does.
        if growth > 1.0 || !self.grows() { builder.growth(growth) } else { builder }
    }

    /// Bytes that `build` will take, at most: bits for the rate at the eight slots that a lookup
    /// meets, or for the alternate places of two to eight doublings; two more for rounding and the
    /// mark of the end; slots a twentieth more than items, in buckets up to a sixteenth more; a few
    /// KiB of directory. Where items expire, those of one more step are kept, and slots have ages.
    pub(crate) fn estimated_bytes(&self, expiry: Option<Expiry>) -> f64 {
        let steps = expiry.map_or(0, Expiry::steps);
        let kept = self.capacity.saturating_add(self.capacity.checked_div(steps).unwrap_or(0));
        #[expect(clippy::cast_precision_loss, reason = "at most 2^36")]
        let capacity = kept as f64;
        let age_bits = f64::from(u64::BITS - steps.leading_zeros());
        let doublings = if self.grows() { self.growth.max(1.0).log2() } else { 0.0 };
        let for_rate = (16.0 * (1.0 + doublings / 2.0) / self.error_rate).log2();
        let bits = for_rate.max(doublings.clamp(2.0, 8.0) + 8.0).ceil() + 2.0;
        capacity * (bits.clamp(1.0, 31.0) + age_bits) / 8.0 * 1.06 * 17.0 / 16.0 + 8192.0
    }

    pub(super) fn encode(&self) -> [u8; PROPERTIES_BYTES] {
        let mut bytes = [0; PROPERTIES_BYTES];
        bytes[0..8].copy_from_slice(&self.capacity.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.error_rate.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.growth.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.bucket_size.to_le_bytes());
        bytes[26..28].copy_from_slice(&self.max_iterations.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.expansion.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8; PROPERTIES_BYTES]) -> Option<Self> {
        let eight = |at: usize| bytes[at..].first_chunk().copied();
        let two = |at: usize| bytes[at..].first_chunk().copied().map(u16::from_le_bytes);
        let properties = Self {
            capacity: u64::from_le_bytes(eight(0)?),
            error_rate: f64::from_le_bytes(eight(8)?),
            growth: f64::from_le_bytes(eight(16)?),
            bucket_size: two(24)?,
            max_iterations: two(26)?,
            expansion: two(28)?,
        };
        let Self { capacity, error_rate, growth, .. } = properties;
        // Written so that a NaN is refused too.
        let possible = (1..=malkoha::MAX_CAPACITY).contains(&capacity)
            && (0.0..1.0).contains(&error_rate)
            && (0.0..=1e9).contains(&growth);
        possible.then_some(properties)
    }
}

/// A rate above 0 and below 1.
pub(crate) fn parse_rate(text: &[u8]) -> Option<f64> {
    let rate: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (rate > 0.0 && rate < 1.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn properties_survive_their_bytes(
            capacity in 1..=1_u64 << 36, error_rate in 0.0..0.99, growth in 0.0..1e9,
            bucket_size: u16, max_iterations: u16, expansion: u16,
        ) {
            let properties =
                Properties { capacity, error_rate, growth, bucket_size, max_iterations, expansion };
            prop_assert_eq!(Properties::decode(&properties.encode()), Some(properties));
        }

        #[test]
        fn estimates_are_upper_bounds(
            capacity in 4..2_000_000_u64, rate in 1e-6..0.2, growth in 1.0..1e6, expansion in 0..2_u16,
            expiry in proptest::option::of((300_u64..1 << 40, proptest::option::of(2_u64..255))),
        ) {
            let expiry = expiry.map(|(ttl, steps)| Expiry {
                ttl,
                resolution: steps.map(|steps| ttl.div_ceil(steps)),
            });
            let properties = Properties {
                capacity, error_rate: rate, growth, bucket_size: 2, max_iterations: 20, expansion,
            };
            if let Ok(filter) = properties.build(expiry, KeyHasher::new(0)) {
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let bytes = filter.size_in_bytes() as f64;
                prop_assert!(bytes <= properties.estimated_bytes(expiry), "{bytes}");
            }
        }
    }

    #[test]
    fn impossible_properties_are_refused() {
        let good = Properties {
            capacity: 1,
            error_rate: 0.5,
            growth: 1.0,
            bucket_size: 2,
            max_iterations: 20,
            expansion: 1,
        };
        assert!(Properties::decode(&good.encode()).is_some());
        for bad in [
            Properties { capacity: 0, ..good },
            Properties { error_rate: f64::NAN, ..good },
            Properties { error_rate: 1.0, ..good },
            Properties { growth: f64::INFINITY, ..good },
        ] {
            assert_eq!(Properties::decode(&bad.encode()), None, "{bad:?}");
        }
    }
}
