//! The codecs of all widths, and which of them a segment has.

use super::codec::Codec;
use super::segment::Form;
use super::shape::{SLOTS, Shape};

/// How the buckets of a segment are compared: in a word of 64 bits if a bucket fits one wherever it
/// begins, or in two.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyCodec {
    pub(super) number: u32,
    /// Bits of a fingerprint.
    pub(super) bits: u32,
    is_wide: bool,
    /// Not to be used if it is wide.
    one: Codec<1>,
    two: Codec<2>,
}

/// How many there are: below [`WIDE`], codecs of one word by the bits of a fingerprint; from there
/// on one later, of two.
const COUNT: usize = 32;
const WIDE: u32 = 16;

static CODECS: [AnyCodec; COUNT] = {
    let mut codecs = [AnyCodec::numbered(0); COUNT];
    let mut number = 0;
    while number < COUNT {
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        let any_codec = AnyCodec::numbered(number as u32);
        codecs[number] = any_codec;
        number += 1;
    }
    codecs
};

/// Runs one expression with the codec for as many words as a bucket needs.
macro_rules! with_codec {
    ($any_codec:expr, $codec:ident => $body:expr) => {{
        let any_codec: &$crate::growable::any_codec::AnyCodec = $any_codec;
        match any_codec.narrow() {
            Some($codec) => $body,
            None => {
                let $codec = any_codec.wide();
                $body
            }
        }
    }};
}
pub(super) use with_codec;

impl AnyCodec {
    const fn numbered(number: u32) -> Self {
        let is_wide = number >= WIDE;
        let bits = if is_wide { number - 1 } else { number };
        Self {
            number,
            bits,
            is_wide,
            one: Codec::<1>::new(if is_wide { 0 } else { bits }),
            two: Codec::<2>::new(bits),
        }
    }

    /// Of a segment at this depth.
    pub(super) fn new(shape: &Shape, depth: u32, form: Form) -> &'static Self {
        let bits = shape.widths.at(depth);
        // A bucket has an even number of bits in addition to its fingerprints, unless it may begin at half
        // a byte.
        let at_half = (form.grid.low_bits() + form.value_bits) % 2;
        let fits = SLOTS * (bits + 1) + 4 * at_half <= u64::BITS;
        Self::of(if fits { bits } else { bits + 1 })
    }

    /// The one of this number.
    #[inline(always)]
    pub(super) fn of(number: u32) -> &'static Self {
        &CODECS[number as usize % COUNT]
    }

    #[inline(always)]
    pub(super) fn width(&self) -> u32 {
        self.bits + 1
    }

    /// Whether its lanes [are short](Codec::is_short).
    pub(super) fn is_short(&self) -> bool {
        with_codec!(self, codec => codec.is_short())
    }

    /// The codec of one word, if that is enough.
    #[inline(always)]
    pub(super) fn narrow(&self) -> Option<&Codec<1>> {
        if self.is_wide { None } else { Some(&self.one) }
    }

    /// That of two, which always are.
    #[inline(always)]
    pub(super) fn wide(&self) -> &Codec<2> {
        &self.two
    }
}

/// How many segments have each codec: usually all have the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct CodecCounts(Vec<(&'static AnyCodec, usize)>);

impl CodecCounts {
    pub(super) fn count_in(&mut self, any_codec: &'static AnyCodec) {
        match self.0.iter_mut().find(|(counted, _)| counted.number == any_codec.number) {
            Some((_, segments)) => *segments += 1,
            None => {
                // Keeps small filters small.
                self.0.reserve_exact(1);
                self.0.push((any_codec, 1));
            }
        }
    }

    pub(super) fn count_out(&mut self, any_codec: &'static AnyCodec) {
        if let Some(at) = self.0.iter().position(|(counted, _)| counted.number == any_codec.number)
        {
            self.0[at].1 -= 1;
            if self.0[at].1 == 0 {
                self.0.swap_remove(at);
            }
        }
    }

    /// The one that all segments have.
    pub(super) fn only(&self) -> Option<&'static AnyCodec> {
        match self.0[..] {
            [(any_codec, _)] => Some(any_codec),
            _ => None,
        }
    }
}
