//! The layouts, each with words of a suitable width.

use crate::geometry::{Geometry, Layout};
use crate::layout::{GapWindows, Lanes, SemiSorted, Swar};

/// The layouts, each for words that hold a whole bucket or window of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    /// Buckets of a whole number of bytes: the common widths, such as 4 slots of 8, 12 or 16 bits.
    BucketedBytes64(Swar<u64, true>),
    Bucketed64(Swar<u64, false>),
    Bucketed128(Swar<u128, false>),
    BucketedLanes(Lanes),
    SemiSorted64(SemiSorted<u64>),
    SemiSorted128(SemiSorted<u128>),
    GapWindows64(GapWindows<u64>),
    GapWindows128(GapWindows<u128>),
}

/// Runs one expression with the layout's own type, so that it is compiled once for each.
macro_rules! with_layout {
    ($kernel:expr, $layout:ident => $body:expr) => {
        match $kernel {
            $crate::table::kernel::Kernel::BucketedBytes64($layout) => $body,
            $crate::table::kernel::Kernel::Bucketed64($layout) => $body,
            $crate::table::kernel::Kernel::Bucketed128($layout) => $body,
            $crate::table::kernel::Kernel::BucketedLanes($layout) => $body,
            $crate::table::kernel::Kernel::SemiSorted64($layout) => $body,
            $crate::table::kernel::Kernel::SemiSorted128($layout) => $body,
            $crate::table::kernel::Kernel::GapWindows64($layout) => $body,
            $crate::table::kernel::Kernel::GapWindows128($layout) => $body,
        }
    };
}
pub(crate) use with_layout;

impl Kernel {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        // The first that fits is the fastest.
        let kernel = match geometry.layout {
            Layout::Bucketed { .. } | Layout::Words => Swar::new(geometry)
                .map(Self::BucketedBytes64)
                .or_else(|| Swar::new(geometry).map(Self::Bucketed64))
                .or_else(|| Swar::new(geometry).map(Self::Bucketed128)),
            Layout::SemiSorted => SemiSorted::new(geometry)
                .map(Self::SemiSorted64)
                .or_else(|| SemiSorted::new(geometry).map(Self::SemiSorted128)),
            Layout::GapWindows => GapWindows::new(geometry)
                .map(Self::GapWindows64)
                .or_else(|| GapWindows::new(geometry).map(Self::GapWindows128)),
        };
        // Buckets of eight wide slots are wider than 128 bits, and slots with values lie in lanes.
        kernel.unwrap_or_else(|| Self::BucketedLanes(Lanes::new(geometry)))
    }

    /// The lanes of a map.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> &Lanes {
        match self {
            Self::BucketedLanes(lanes) => lanes,
            _ => unreachable!("slots with values lie in lanes"),
        }
    }
}
