//! Where a key may be.

/// Locations that are kept without an allocation.
const FEW: usize = 4;

/// The locations that the index has for a hash: one or two as a rule.
#[derive(Default)]
pub(crate) struct Candidates {
    few: [u64; FEW],
    len: usize,
    more: Vec<u64>,
}

impl Candidates {
    #[inline(always)]
    pub(super) fn push(&mut self, location: u64) {
        if self.len < FEW {
            self.few[self.len] = location;
            self.len += 1;
        } else {
            self.push_more(location);
        }
    }

    #[cold]
    fn push_more(&mut self, location: u64) {
        self.more.push(location);
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        self.few[..self.len].iter().chain(&self.more).copied()
    }
}
