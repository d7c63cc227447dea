//! The words that a table's buckets are compared in.

use super::codec::Codec;
use super::shape::Shape;

/// Words that hold a bucket: 128 bits always do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernel {
    Narrow(Codec<u64>),
    Wide(Codec<u128>),
}

macro_rules! with_codec {
    ($kernel:expr, $codec:ident => $body:expr) => {
        match $kernel {
            $crate::growable::kernel::Kernel::Narrow($codec) => $body,
            $crate::growable::kernel::Kernel::Wide($codec) => $body,
        }
    };
}
pub(super) use with_codec;

impl Kernel {
    pub(super) fn new(shape: &Shape) -> Self {
        let wide = || Codec::new(shape).map(Self::Wide).expect("four slots fit 128 bits");
        Codec::new(shape).map_or_else(wide, Self::Narrow)
    }

    pub(super) fn width(&self) -> u32 {
        with_codec!(self, codec => codec.width)
    }
}
