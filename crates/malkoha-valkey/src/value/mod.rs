//! What a key of ours holds.

mod chunks;
mod limits;
mod loading;
mod properties;
pub(crate) mod stats;
mod stored;

use std::fmt;

pub(crate) use chunks::{Chunks, chunk};
pub(crate) use loading::Loading;
pub(crate) use properties::{Properties, parse_rate};
pub(crate) use stored::{NotUnited, Refused, StoredFilter};

/// Of what is in RDB files.
pub(crate) const ENCODING_VERSION: i32 = 1;

/// A key's value.
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the common one, and has a box already"
)]
pub(crate) enum Value {
    Filter(StoredFilter),
    /// Between the first and the last CF.LOADCHUNK.
    Loading(Box<Loading>),
}

/// Bytes from outside that are no filter.
#[derive(Debug)]
pub(crate) struct Damaged(pub(crate) &'static str);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Where RDB data goes.
pub(crate) trait Sink {
    fn number(&mut self, number: u64);
    fn bytes(&mut self, bytes: &[u8]);
}

/// Where RDB data comes from.
pub(crate) trait Source {
    fn number(&mut self) -> Result<u64, Damaged>;
    fn bytes(&mut self) -> Result<Vec<u8>, Damaged>;
}

impl Value {
    /// What CF.LOADCHUNK makes the same value of.
    pub(crate) fn chunks(&self) -> Chunks<'_> {
        match self {
            Self::Filter(filter) => Chunks::Filter(filter, 0),
            Self::Loading(loading) => Chunks::Loading(loading.chunks().iter()),
        }
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) {
        sink.number(u64::from(matches!(self, Self::Filter(_))));
        let count = match self {
            Self::Filter(filter) => chunks::count(filter.filter()),
            Self::Loading(loading) => loading.chunks().len(),
        };
        sink.number(count as u64);
        self.chunks().for_each(|chunk| sink.bytes(&chunk));
    }

    pub(crate) fn read(source: &mut impl Source, version: i32) -> Result<Self, Damaged> {
        if version != ENCODING_VERSION {
            return Err(Damaged("it is of another version of the module"));
        }
        let whole = match source.number()? {
            0 => false,
            1 => true,
            _ => return Err(Damaged("neither whole nor in parts")),
        };
        let count = source.number()?;
        let first = source.bytes()?;
        let mut loading =
            if whole { Loading::begin_passing(&first)? } else { Loading::begin(first)? };
        let mut finished = None;
        for _ in 1..count {
            if finished.is_some() {
                return Err(Damaged("there are more chunks than the first one says"));
            }
            finished = loading.push(source.bytes()?)?;
        }
        match finished {
            Some(filter) => Ok(Self::Filter(filter)),
            None if whole => Err(Damaged("there are fewer chunks than the first one says")),
            None => Ok(Self::Loading(Box::new(loading))),
        }
    }

    /// Bytes that it takes beside itself.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Filter(filter) => filter.bytes(),
            Self::Loading(loading) => loading.held(),
        }
    }

    /// Allocations, about: what freeing the value costs.
    pub(crate) fn allocations(&self) -> usize {
        match self {
            Self::Filter(filter) => filter.filter().segments() + 4,
            Self::Loading(loading) => 16 * loading.chunks().len(),
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        match self {
            Self::Filter(filter) => Self::Filter(filter.clone()),
            Self::Loading(loading) => Self::Loading(loading.clone()),
        }
    }
}
