//! The distinct lines read so far: for each its hash, and what distinguishes it from other lines
//! with this hash's fingerprint.

use anyhow::Result;
use hashbrown::HashTable;
use malkoha::GrowableCuckooMap;

/// The rate of unsuccessful comparisons. It only costs time; a lower one costs space.
const CANDIDATE_RATE: f64 = 1.0 / 256.0;

/// The expected size and number of the lines.
#[derive(Clone, Copy)]
pub(super) struct Outlook {
    /// Lines, at most.
    pub(super) lines: u64,
    /// Bytes of all lines, and the largest witness.
    pub(super) bytes: u64,
}

/// A map from the hash of each distinct line to a witness of it: where the line begins, the rest of
/// a longer hash, or its number. The caller compares the witnesses.
pub(super) struct Distinct {
    map: GrowableCuckooMap,
    outlook: Option<Outlook>,
    /// Lines for which there is room.
    room: u64,
    /// By line of a batch: the witness of the equal line that came before it.
    known: Vec<Option<u64>>,
    /// The lines of a batch that are new, each by its first occurrence.
    firsts: HashTable<usize>,
    pairs: Vec<(u64, u64)>,
}

impl Distinct {
    /// Begun with room for `capacity` lines.
    pub(super) fn new(capacity: u64, outlook: Option<Outlook>) -> Result<Self> {
        let capacity = capacity.max(1);
        let builder = GrowableCuckooMap::builder()
            .capacity(capacity)
            .fpr(CANDIDATE_RATE)
            .value_bits(u64::BITS);
        // A known growth saves bits. There is a limit to it.
        #[expect(clippy::cast_precision_loss, reason = "a factor")]
        let growth = outlook.map(|outlook| (outlook.lines as f64 / capacity as f64).max(1.0));
        let named = growth.and_then(|growth| builder.clone().growth(growth).build().ok());
        let map = named.map_or_else(|| builder.build(), Ok)?;
        Ok(Self {
            map,
            outlook,
            room: capacity,
            known: Vec::new(),
            firsts: HashTable::new(),
            pairs: Vec::new(),
        })
    }

    /// Makes room for the expected lines, when this many of all bytes were read, because half of
    /// the work of an insert into a growing map is growing. At most for twice the present number,
    /// because later lines might be repetitions.
    pub(super) fn foresee(&mut self, read: u64) -> Result<()> {
        let len = self.map.len();
        let Some(outlook) = self.outlook.filter(|_| len >= self.room) else { return Ok(()) };
        let all = u128::from(len) * u128::from(outlook.bytes) / u128::from(read.max(1));
        let expected = u64::try_from(all).unwrap_or(u64::MAX).min(2 * len);
        self.room = expected.max(len + len / 8);
        if expected > len + len / 8 {
            // The map makes a fifth more room than requested, which would not be filled completely.
            self.map.reserve(expected / 8 * 7, outlook.bytes)?;
        }
        Ok(())
    }

    pub(super) fn len(&self) -> u64 {
        self.map.len()
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        self.map.size_in_bytes()
    }

    /// Calls `each` with the witnesses of lines that may have a hash.
    pub(super) fn candidates(&self, hash: u64, mut each: impl FnMut(u64)) {
        self.map.get_hashes(&[hash], |_, witness| each(witness));
    }

    /// Takes a batch of lines by their hashes. Calls `each(i, witness)` for all in order, with the
    /// witness of the equal line before it, or `None` if it is new. Then adds the witness that
    /// `each` returns to the map.
    ///
    /// `is_known(i, witness)` tells whether a candidate is line `i`, and `are_equal(i, j)` whether
    /// two lines of the batch are one.
    pub(super) fn take(
        &mut self,
        hashes: &[u64],
        mut is_known: impl FnMut(usize, u64) -> bool,
        are_equal: impl Fn(usize, usize) -> bool,
        mut each: impl FnMut(usize, Option<u64>) -> u64,
    ) -> Result<()> {
        let Self { map, known, firsts, pairs, .. } = self;
        known.clear();
        known.resize(hashes.len(), None);
        map.get_hashes(hashes, |i, witness| {
            if known[i].is_none() && is_known(i, witness) {
                known[i] = Some(witness);
            }
        });
        let hash_of = |&i: &usize| hashes[i];
        firsts.clear();
        firsts.reserve(hashes.len(), hash_of);
        pairs.clear();
        for i in 0..hashes.len() {
            let before = known[i].or_else(|| {
                let is_it = |&j: &usize| hashes[j] == hashes[i] && are_equal(i, j);
                let first = *firsts.entry(hashes[i], is_it, hash_of).or_insert(i).get();
                if first == i { None } else { known[first] }
            });
            let witness = each(i, before);
            if before.is_none() {
                pairs.push((hashes[i], witness));
                known[i] = Some(witness);
            }
        }
        map.insert_hashes(pairs).map_err(|refusal| refusal.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that only their witnesses distinguish, since all have one of two hashes.
    #[test]
    fn witnesses_decide() {
        let mut distinct = Distinct::new(1, None).unwrap();
        let mut new = Vec::new();
        for batch in [&[1_u64, 2, 1, 3, 4, 4][..], &[4, 5, 1, 6, 5], &[6, 7]] {
            let hashes: Vec<u64> = batch.iter().map(|n| n % 2).collect();
            let is_known = |i: usize, witness| witness == batch[i];
            distinct
                .take(
                    &hashes,
                    is_known,
                    |i, j| batch[i] == batch[j],
                    |i, before| {
                        assert!(before.is_none_or(|before| before == batch[i]));
                        new.extend(before.is_none().then_some(batch[i]));
                        batch[i]
                    },
                )
                .unwrap();
        }
        assert_eq!(new, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(distinct.len(), 7);
    }
}
