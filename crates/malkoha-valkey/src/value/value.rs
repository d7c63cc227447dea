//! The value of a key.

use std::iter;

use super::chunks;
use super::filter::StoredFilter;
use super::loading::Loading;
use super::redisbloom::{Chain, ENCODING_VERSION as REDISBLOOM_VERSION};
use super::small::Small;
use super::stream::{Damaged, Sink, Source};

/// Where RedisBloom's part comes first, the filter's own chunks are numbered from here on: beyond
/// all positions of that part, and still exact in clients that use floating-point numbers.
pub(crate) const OWN_CHUNKS: u64 = 1 << 50;

/// The version of the data in RDB files.
pub(crate) const ENCODING_VERSION: i32 = 1;
/// Marks a value that has a part in RedisBloom's layout, which comes first.
const WITH_OLDER: u64 = 2;

/// A key's value.
#[derive(Clone)]
pub(crate) enum Value {
    Filter(StoredFilter),
    /// Between the first and the last CF.LOADCHUNK.
    Loading(Box<Loading>),
    /// In RedisBloom's layout: nothing was added since it was loaded.
    RedisBloom(Box<Chain>),
}

// Kept small, because many filters are small.
const _: () = assert!(size_of::<Value>() == 16);

impl Value {
    /// The part in RedisBloom's layout: the whole value, or one that a filter came after.
    pub(crate) fn older(&self) -> Option<&Chain> {
        match self {
            Self::Filter(filter) => filter.older(),
            Self::Loading(loading) => loading.older(),
            Self::RedisBloom(chain) => Some(chain),
        }
    }

    /// The positions and chunks from which CF.LOADCHUNK makes the same value.
    pub(crate) fn chunks(&self) -> impl Iterator<Item = (u64, Vec<u8>)> {
        let next = |&(position, _): &(u64, Vec<u8>)| self.chunk_behind(position);
        iter::successors(self.chunk_behind(0), next)
    }

    /// The chunk behind a position, and its position; `None` behind the last one. Chunks of
    /// RedisBloom have the positions of its own dumps, ours are numbered.
    pub(crate) fn chunk_behind(&self, position: u64) -> Option<(u64, Vec<u8>)> {
        let start = if self.older().is_some() { OWN_CHUNKS } else { 0 };
        let older = self.older().filter(|_| position < OWN_CHUNKS);
        older.and_then(|older| older.chunk(position)).or_else(|| {
            let number = position.saturating_sub(start) + 1;
            let chunk = self.own_chunk(usize::try_from(number).ok()?)?;
            Some((start + number, chunk))
        })
    }

    /// Chunk `number` of ours, from 1; `None` beyond the last.
    fn own_chunk(&self, number: usize) -> Option<Vec<u8>> {
        match self {
            Self::Filter(filter) => chunks::chunk(filter, number),
            Self::Loading(loading) => loading.chunks().get(number.checked_sub(1)?).cloned(),
            Self::RedisBloom(_) => None,
        }
    }

    /// Whether its items expire.
    pub(crate) fn expires(&self) -> bool {
        matches!(self, Self::Filter(filter) if filter.expires())
    }

    /// Whether an item is in, at a time that matters where items expire. A filter that is being
    /// loaded contains nothing yet.
    pub(crate) fn contains(&self, item: &[u8], now: u64) -> bool {
        match self {
            Self::Filter(filter) => filter.contains(item, now),
            Self::RedisBloom(chain) => chain.contains(item),
            Self::Loading(_) => false,
        }
    }

    /// Which of the items are in.
    pub(crate) fn contains_all(&self, items: &[&[u8]], now: u64) -> Vec<bool> {
        match self {
            Self::Filter(filter) => filter.contains_all(items, now),
            _ => items.iter().map(|item| self.contains(item, now)).collect(),
        }
    }

    /// How many copies of an item are in.
    pub(crate) fn count(&self, item: &[u8], now: u64) -> u64 {
        match self {
            Self::Filter(filter) => filter.count(item, now),
            Self::RedisBloom(chain) => chain.count(item),
            Self::Loading(_) => 0,
        }
    }

    /// Deletes a copy of an item; returns whether it was there.
    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        match self {
            Self::Filter(filter) => filter.remove(item),
            Self::RedisBloom(chain) => chain.remove(item),
            Self::Loading(_) => false,
        }
    }

    /// Deletes a copy of each item; returns which were there.
    pub(crate) fn remove_all(&mut self, items: &[&[u8]]) -> Vec<bool> {
        match self {
            Self::Filter(filter) => filter.remove_all(items),
            _ => items.iter().map(|item| self.remove(item)).collect(),
        }
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
            .filter_map(|number| self.own_chunk(number))
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
        let mut loading = loading.with_older(older);
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

    /// The content of files and payloads of RedisBloom.
    pub(crate) fn read_redisbloom(source: &mut impl Source, version: i32) -> Result<Self, Damaged> {
        Chain::read(source, version).map(Box::new).map(Self::RedisBloom)
    }

    /// Bytes on the heap.
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
