//! Keys of a map of which too little is known for further splits.
//!
//! A split takes a bit of each fingerprint of its segment. The keys that came first have the fewest
//! bits left, and a map cannot put a key into both halves. So segments stop splitting at some size,
//! unless the program inserts the oldest keys again.

use super::grid::MIX_BITS;
use super::table::{Growing, narrow};
use super::widths::MAX_DEPTH;

impl Growing {
    /// How often its deepest segment can be split before a key has no bit left for it.
    pub(crate) fn splits_left(&self) -> u32 {
        let deepest = self.deepest();
        // As `can_split` asks.
        self.least_known().saturating_sub(MIX_BITS + deepest).min(MAX_DEPTH - deepest)
    }

    /// The values of the keys in a segment, spilled ones included, that have no bits left for
    /// this many splits of the deepest one, and would have more if they came now.
    pub(crate) fn values_short_of(&self, splits: u32, number: usize) -> Vec<u64> {
        let mut values = Vec::new();
        if number >= self.records.len() {
            return values;
        }
        let needed = (MIX_BITS + self.deepest()).saturating_add(splits) as usize;
        let is_short = |fingerprint: u64| {
            fingerprint.trailing_zeros() > 0 && self.known_bits(number, fingerprint) < needed
        };
        self.segment(number).for_each_occupant(self.bytes(number), |_, slot, _| {
            if is_short(slot.fingerprint) {
                values.push(slot.value);
            }
        });
        let spilled = self.spill.segment(narrow(number as u64)).map(|(key, _)| key);
        let short = spilled.filter(|key| is_short(key.fingerprint.into()));
        values.extend(short.map(|key| key.value));
        values
    }

    /// The depth of the deepest segment.
    pub(super) fn deepest(&self) -> u32 {
        self.records.iter().map(|record| record.home.depth).max().unwrap_or(0)
    }
}
