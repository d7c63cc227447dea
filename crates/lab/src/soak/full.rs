//! The operations on a kind of fixed size that is kept full, so that it keeps refusing keys.

use malkoha::tables::Lookup;
use malkoha::{Content, Filter, Geometry, Key, KeyHasher};

use super::Kind;
use super::crafted;
use super::work::{Did, Keys as Whose, Meter};
use crate::keys::{Keys, scale};

/// Keys that filters are built for: they have one segment.
pub(super) const CAPACITY: u64 = 200_000;
/// Distinct keys that come repeatedly.
const HOT: u64 = 100;

/// Runs the operations, two inserts for each removal; returns the number of wrong answers. First no
/// key is crafted, then one in eight is.
pub(super) fn run<T: Lookup, C: Content>(
    operations: u64,
    seed: u64,
    filter: &mut Filter<T, C>,
    geometry: &Geometry,
    kind: &Kind<Filter<T, C>>,
    meter: &mut Meter,
) -> u64 {
    let (keys, mut crowd) = (Keys::new(seed), crafted::for_fixed(geometry));
    let (mut present, mut wrong, mut step) = (Vec::new(), 0, 0_u64);
    while meter.operations() < operations {
        step += 1;
        let random = keys.key(step);
        let hash = |number: u64| keys.key(number).hash_with(KeyHasher::new(0));
        let is_attacked = meter.operations() * 4 > operations;
        if step % 3 == 0 && !present.is_empty() {
            let at = scale(random, present.len() as u64) as usize;
            let (whose, hash) = present.swap_remove(at);
            let mut removed = false;
            meter.run(whose, || {
                removed = (kind.remove)(filter, hash);
                Did::Remove
            });
            wrong += u64::from(!removed);
            continue;
        }
        let (whose, hash) = match step % 8 {
            1 if is_attacked => (Whose::Crafted, crowd.next().unwrap_or(0)),
            2 => (Whose::Repeated, hash(random % HOT)),
            // A square is skewed: a tenth of the keys has a third of the operations.
            4 => (Whose::Skewed, hash(HOT + scale(scale(random, random), 10 * CAPACITY))),
            _ => (Whose::Honest, hash(1 << 40 | step)),
        };
        let insert = || if (kind.insert)(filter, hash) { Did::Insert } else { Did::Refuse };
        if meter.run(whose, insert) == Did::Insert {
            present.push((whose, hash));
        }
    }
    let mut hashes: Vec<u64> = present.into_iter().map(|(_, hash)| hash).collect();
    hashes.sort_unstable();
    let is_low = |copies: &&[u64]| filter.count_hash(copies[0]) < copies.len() as u64;
    wrong + hashes.chunk_by(|a, b| a == b).filter(is_low).count() as u64
}
