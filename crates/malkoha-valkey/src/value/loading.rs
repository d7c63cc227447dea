//! A filter of which only the first chunks have come.

use std::mem;

use super::chunks::{Preamble, split_number};
use super::filter::StoredFilter;
use super::redisbloom::Chain;
use super::stream::Damaged;
use super::table::{Kind, Loader};
use crate::value::stats::measure;

/// Checks each chunk as it comes. Keeps them too, so that a server that is saved or gets a replica
/// meanwhile can go on from there.
#[derive(Debug)]
pub(crate) struct Loading {
    preamble: Preamble,
    /// The number of the state that all chunks must be of.
    state: u64,
    loader: Loader,
    taken: u64,
    /// Kept chunks that the loader has yet to read, since it was restarted.
    unread: usize,
    /// Bytes that have come.
    bytes: u64,
    /// The bytes that the loader takes, as the server counts them.
    held: i64,
    /// Empty if `keeps` is not set.
    chunks: Vec<Vec<u8>>,
    keeps: bool,
    /// RedisBloom's part, which the filter is added to.
    older: Option<Chain>,
}

impl Loading {
    /// Begins with chunk 1.
    pub(crate) fn begin(chunk: Vec<u8>) -> Result<Self, Damaged> {
        let mut loading = Self::begin_passing(&chunk)?;
        loading.keeps = true;
        loading.chunks.push(chunk);
        Ok(loading)
    }

    /// As [`begin`](Self::begin), for chunks that all come at once and need not be kept.
    pub(super) fn begin_passing(chunk: &[u8]) -> Result<Self, Damaged> {
        let (preamble, header, state) = Preamble::of_large(chunk)?;
        if preamble.kind == Kind::Small {
            return Err(Damaged("a small filter has one chunk"));
        }
        let (loader, held) = measure(|| {
            let mut loader = Loader::new(preamble.kind);
            loader.push(header).map(|()| loader).ok()
        });
        let loader = loader.ok_or(Damaged("the first chunk has a damaged header"))?;
        let bytes = chunk.len() as u64;
        let (chunks, older) = (Vec::new(), None);
        let (taken, unread, keeps) = (1, 0, false);
        Ok(Self { preamble, state, loader, taken, unread, bytes, held, chunks, keeps, older })
    }

    /// The same, added to RedisBloom's part.
    pub(crate) fn with_older(self, older: Option<Chain>) -> Self {
        Self { older, ..self }
    }

    pub(super) fn older(&self) -> Option<&Chain> {
        self.older.as_ref()
    }

    /// The number of the chunk that must come next.
    pub(crate) const fn next(&self) -> u64 {
        self.taken + 1
    }

    /// Takes the next chunk; returns the filter if it was the last. If chunks are kept, a refused
    /// one changes nothing, but those before it must then be [read again](Self::catch_up).
    pub(crate) fn push(&mut self, chunk: Vec<u8>) -> Result<Option<StoredFilter>, Damaged> {
        while self.catch_up() {}
        let before = (self.taken, self.bytes);
        let outcome = self.take(&chunk);
        if outcome.is_err() {
            (self.taken, self.bytes) = before;
            self.restart();
        } else if self.keeps {
            self.chunks.push(chunk);
        }
        outcome
    }

    /// Reads one of the chunks that must be read again; returns whether there was any.
    pub(crate) fn catch_up(&mut self) -> bool {
        let number = self.chunks.len() - self.unread;
        let Some(chunk) = self.chunks.get(number) else { return false };
        let (loader, kind) = (&mut self.loader, self.preamble.kind);
        let ((), held) = measure(|| {
            let bytes = if number == 0 {
                *loader = Loader::new(kind);
                Preamble::of_large(chunk).expect("it was taken once").1
            } else {
                split_number(chunk).expect("it was taken once").0
            };
            loader.push(bytes).expect("it was taken once");
        });
        self.held += held;
        self.unread -= 1;
        true
    }

    /// Lets a new loader read the kept chunks, because a loader cannot be used after an error.
    fn restart(&mut self) {
        let ((), held) = measure(|| self.loader = Loader::new(self.preamble.kind));
        self.held += held;
        self.unread = self.chunks.len();
    }

    fn take(&mut self, chunk: &[u8]) -> Result<Option<StoredFilter>, Damaged> {
        let parts = split_number(chunk).filter(|&(_, state)| state == self.state);
        let (pieces, _) = parts.ok_or(Damaged("a chunk is of another state of the filter"))?;
        let (is_good, held) = measure(|| self.loader.push(pieces).is_ok());
        self.held += held;
        if !is_good {
            return Err(Damaged("a chunk is damaged"));
        }
        self.taken += 1;
        self.bytes += chunk.len() as u64;
        let Preamble { kind, chunks, deleted, properties } = self.preamble;
        if self.taken < chunks {
            return Ok(None);
        }
        let ((table, rest), held) = measure(|| {
            let (spent, rest) = measure(|| Loader::new(kind));
            (mem::replace(&mut self.loader, spent).into_table().ok(), rest)
        });
        // The loader's memory is the filter's now, but for that of the new loader.
        let held = mem::replace(&mut self.held, rest) + held - rest;
        let table = table.ok_or(Damaged("the chunks do not fit together"))?;
        Ok(Some(StoredFilter::of(table, properties, deleted, held).with_older(self.older.take())))
    }

    /// Bytes that have come.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that it takes.
    pub(super) fn held(&self) -> u64 {
        let kept: usize = self.chunks.iter().map(Vec::capacity).sum();
        let older = self.older.as_ref().map_or(0, Chain::bytes);
        kept as u64 + self.held.max(0).cast_unsigned() + older
    }

    pub(super) fn chunks(&self) -> &[Vec<u8>] {
        &self.chunks
    }
}

impl Clone for Loading {
    fn clone(&self) -> Self {
        let Self { preamble, state, taken, bytes, keeps, ref chunks, ref older, .. } = *self;
        let (loader, held) = measure(|| Loader::new(preamble.kind));
        let (chunks, older, unread) = (chunks.clone(), older.clone(), chunks.len());
        Self { preamble, state, loader, taken, unread, bytes, held, chunks, keeps, older }
    }
}

#[cfg(test)]
mod tests {
    use malkoha::{KeyHasher, MAX_CAPACITY};

    use super::super::chunks::{chunk, sealed};
    use super::super::small::tests::PROPERTIES;
    use super::*;
    use crate::value::Properties;

    #[test]
    fn what_the_first_chunk_says_of_before_costs_nothing() {
        let properties = Properties { capacity: 5000, ..PROPERTIES };
        let filter = StoredFilter::create(properties, None, KeyHasher::new(0)).unwrap();
        let [first, second] = [1, 2].map(|number| chunk(&filter, number).unwrap());
        let (preamble, header, state) = Preamble::of_large(&first).unwrap();
        let properties = Properties { capacity: MAX_CAPACITY, ..properties };
        let said = Preamble { deleted: u64::MAX, properties, ..preamble }.encode();
        let first = sealed([&said, header, &state.to_le_bytes()[..]].concat());
        let mut loaded = Loading::begin(first).unwrap().push(second).unwrap().unwrap();
        loaded.insert(b"a", false, u64::MAX).unwrap();
        assert!(loaded.remove(b"a") && !loaded.contains(b"a", 0));
        let swept = StoredFilter::swept(properties, loaded.deleted(), &loaded.table());
        assert!(swept.table().size_in_bytes() <= filter.table().size_in_bytes());
    }
}
