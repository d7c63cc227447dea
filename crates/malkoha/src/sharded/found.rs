//! Candidates that were copied out of a shard.

/// Pairs of a value and a number of copies; more than eight are rare.
#[derive(Debug, Default)]
pub(super) struct Found {
    few: [(u64, u64); 8],
    len: usize,
    more: Vec<(u64, u64)>,
}

impl Found {
    pub(super) fn push(&mut self, pair: (u64, u64)) {
        if self.len < self.few.len() {
            self.few[self.len] = pair;
            self.len += 1;
        } else {
            self.more.push(pair);
        }
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = (u64, u64)> {
        self.few.into_iter().take(self.len).chain(self.more)
    }
}
