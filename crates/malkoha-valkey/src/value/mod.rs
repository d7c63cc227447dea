//! The values of the module's keys.

mod chunks;
mod large;
mod limits;
mod loading;
mod properties;
mod redisbloom;
mod small;
pub(crate) mod stats;
mod stored;
mod table;

use std::{fmt, iter};

pub(crate) use chunks::{BESIDE, chunk_behind};
pub(crate) use loading::Loading;
pub(crate) use properties::{Expiry, Properties, parse_rate};
pub(crate) use redisbloom::{Chain, ENCODING_VERSION as REDISBLOOM_VERSION, HEADER_BYTES};
pub(crate) use small::Small;
pub(crate) use stored::{NotUnited, Refused, StoredFilter};
pub(crate) use table::Table;

/// The version of what is in RDB files.
pub(crate) const ENCODING_VERSION: i32 = 1;
/// Marks a value that has a part in RedisBloom's layout, which comes first.
const WITH_OLDER: u64 = 2;

/// A key's value.
pub(crate) enum Value {
    Filter(StoredFilter),
    /// Between the first and the last CF.LOADCHUNK.
    Loading(Box<Loading>),
    /// In RedisBloom's layout: nothing was added since it was loaded.
    RedisBloom(Box<Chain>),
}

// Kept small, because many filters are small.
const _: () = assert!(size_of::<Value>() == 16);

/// Bytes from outside that are not a filter.
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
    /// The part in RedisBloom's layout: the whole value, or beside a filter.
    pub(crate) fn older(&self) -> Option<&Chain> {
        match self {
            Self::Filter(filter) => filter.older(),
            Self::Loading(loading) => loading.older(),
            Self::RedisBloom(chain) => Some(chain),
        }
    }

    /// The positions and chunks from which CF.LOADCHUNK makes the same value.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u64, Vec<u8>)> {
        let next = |&(position, _): &(u64, Vec<u8>)| chunk_behind(self, position);
        iter::successors(chunk_behind(self, 0), next)
    }

    pub(crate) fn write(&self, sink: &mut impl Sink) {
        let count = match self {
            Self::Filter(filter) => chunks::count(filter),
            Self::Loading(loading) => loading.chunks().len(),
            Self::RedisBloom(chain) => return chain.write(sink),
        };
        let is_whole = u64::from(matches!(self, Self::Filter(_)));
        sink.number(is_whole | if self.older().is_some() { WITH_OLDER } else { 0 });
        if let Some(older) = self.older() {
            older.write(sink);
        }
        sink.number(count as u64);
        (1..=count)
            .filter_map(|number| chunks::own(self, number))
            .for_each(|chunk| sink.bytes(&chunk));
    }

    pub(crate) fn read(source: &mut impl Source, version: i32) -> Result<Self, Damaged> {
        if version != ENCODING_VERSION {
            return Err(Damaged("it is of another version of the module"));
        }
        let kind = source.number()?;
        if kind > WITH_OLDER + 1 {
            return Err(Damaged("neither whole nor in parts"));
        }
        let (whole, has_older) = (kind & 1 == 1, kind & WITH_OLDER > 0);
        let older = has_older.then(|| Chain::read(source, REDISBLOOM_VERSION)).transpose()?;
        let count = source.number()?;
        let first = source.bytes()?;
        if Small::is_chunk(&first) && (whole, has_older, count) == (true, false, 1) {
            return Small::from_chunk(&first).map(StoredFilter::Small).map(Self::Filter);
        }
        let loading = if whole { Loading::begin_passing(&first)? } else { Loading::begin(first)? };
        let mut loading = loading.beside(older);
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

    /// What is in files and payloads of RedisBloom.
    pub(crate) fn read_redisbloom(source: &mut impl Source, version: i32) -> Result<Self, Damaged> {
        Chain::read(source, version).map(Box::new).map(Self::RedisBloom)
    }

    /// Bytes that it takes beside itself.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Filter(filter) => filter.bytes(),
            Self::Loading(loading) => loading.held(),
            Self::RedisBloom(chain) => chain.bytes() + size_of::<Chain>() as u64,
        }
    }

    /// The approximate number of allocations: what freeing the value costs.
    pub(crate) fn allocations(&self) -> usize {
        let own = match self {
            Self::Filter(filter) => filter.allocations(),
            Self::Loading(loading) => 16 * loading.chunks().len(),
            Self::RedisBloom(_) => 0,
        };
        own + self.older().map_or(0, |older| older.tables() + 2)
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        match self {
            Self::Filter(filter) => Self::Filter(filter.clone()),
            Self::Loading(loading) => Self::Loading(loading.clone()),
            Self::RedisBloom(chain) => Self::RedisBloom(chain.clone()),
        }
    }
}
