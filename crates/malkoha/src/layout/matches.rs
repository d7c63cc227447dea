//! The slots among a key's candidates that hold its fingerprint, in buckets that lie lane by lane.

/// Where a slot lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(super) base: usize,
    pub(super) place: u64,
    pub(super) lane: u64,
}

/// The slots among a key's candidates that hold its fingerprint.
#[derive(Clone, Debug)]
pub(crate) struct Matches {
    pub(super) base: usize,
    pub(super) places: [u64; 2],
    /// At most 8 lanes per bucket: the second bucket's bits lie above the first's.
    pub(super) lanes: u32,
}

impl Iterator for Matches {
    type Item = Position;

    #[inline(always)]
    fn next(&mut self) -> Option<Position> {
        if self.lanes == 0 {
            return None;
        }
        let bit = self.lanes.trailing_zeros();
        self.lanes &= self.lanes - 1;
        let place = self.places[(bit >> 3) as usize];
        Some(Position { base: self.base, place, lane: u64::from(bit & 7) })
    }
}

impl Matches {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes == 0
    }
}
