//! The kinds of files.

use crate::format::error::ReadError;

/// Bytes of the header, with which every file begins.
pub(crate) const HEADER_BYTES: usize = 128;

/// The kind of a file's content, by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u16)]
pub enum FileKind {
    /// A [`CuckooFilter`](crate::CuckooFilter).
    Set = 1,
    /// A [`CuckooMap`](crate::CuckooMap).
    Map = 2,
    /// A [`GrowableCuckooFilter`](crate::GrowableCuckooFilter), shared by threads or not.
    GrowableSet = 3,
    /// A [`GrowableCuckooMap`](crate::GrowableCuckooMap), shared by threads or not.
    GrowableMap = 4,
    /// An [`ExpiringCuckooFilter`](crate::ExpiringCuckooFilter).
    ExpiringSet = 8,
    /// A [`GrowableExpiringCuckooFilter`](crate::GrowableExpiringCuckooFilter), shared by threads
    /// or not.
    GrowableExpiringSet = 9,
}

impl FileKind {
    pub(super) const ALL: [Self; 6] = [
        Self::Set,
        Self::Map,
        Self::GrowableSet,
        Self::GrowableMap,
        Self::ExpiringSet,
        Self::GrowableExpiringSet,
    ];

    /// The kind in words, with the name of its type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "set (CuckooFilter)",
            Self::Map => "map (CuckooMap)",
            Self::GrowableSet => "growable set (GrowableCuckooFilter)",
            Self::GrowableMap => "growable map (GrowableCuckooMap)",
            Self::ExpiringSet => "set whose keys expire (ExpiringCuckooFilter)",
            Self::GrowableExpiringSet => {
                "growable set whose keys expire (GrowableExpiringCuckooFilter)"
            }
        }
    }

    /// The kind of a set whose ages are a file of this kind.
    pub(crate) const fn of_ages(ages: Self) -> Self {
        match ages {
            Self::GrowableMap => Self::GrowableExpiringSet,
            _ => Self::ExpiringSet,
        }
    }

    /// This kind, if it is the expected one.
    pub(super) fn expected(self, expected: Self) -> Result<(), ReadError> {
        if self == expected {
            Ok(())
        } else {
            Err(ReadError::Kind { expected: expected.name(), found: self.name() })
        }
    }
}
