//! Load factors of a table of four slots a bucket: an implementer measured about 80 %, the filter's
//! author replied that it is 96 %, with 500 kicks and a good hash function. The toy always kicks
//! out a bucket's first entry.

use crate::keys::Keys;
use crate::paper::values::Value;
use crate::paper::walk::Walk;
use crate::paper::{Scale, of_runs};

const BUCKET_SIZE: usize = 4;
/// Binary logarithms of the buckets. The toy stores a source file of two megabytes in pages of one
/// kilobyte, which is near the first.
const SIZES: [u32; 4] = [9, 12, 15, 18];
const RUNS: u64 = 10;
/// What the article says of the toy, and what the filter's author says in its comments.
const SAID: [f64; 2] = [80.0, 96.0];

/// Which slot of a full bucket is kicked out.
#[derive(Clone, Copy)]
enum Kick {
    First,
    Random,
}

/// Both buckets of an entry, the present one first; `None` where a slot is free.
type Slot = Option<[u32; 2]>;

struct Toy {
    slots: Vec<Slot>,
    kick: Kick,
    kicks: u32,
    random: Keys,
    moves: u64,
    len: u64,
}

impl Toy {
    fn new(log_buckets: u32, kick: Kick, kicks: u32) -> Self {
        let slots = vec![None; BUCKET_SIZE << log_buckets];
        Self { slots, kick, kicks, random: Keys::new(0), moves: 0, len: 0 }
    }

    fn bucket(&mut self, bucket: u32) -> &mut [Slot] {
        let start = usize::try_from(bucket).unwrap_or(0) * BUCKET_SIZE;
        &mut self.slots[start..start + BUCKET_SIZE]
    }

    fn put(&mut self, entry: [u32; 2]) -> bool {
        let free = self.bucket(entry[0]).iter_mut().find(|slot| slot.is_none());
        free.map(|slot| *slot = Some(entry)).is_some()
    }

    /// Whether there was room.
    fn insert(&mut self, [first, second]: [u32; 2]) -> bool {
        let mut entry = [first, second];
        let mut done = self.put(entry) || self.put([second, first]);
        for kick in 0..self.kicks + 4 {
            if done {
                break;
            }
            self.moves += 1;
            let slot = match self.kick {
                // The toy goes on with the other slots when its kicks are used up.
                Kick::First => kick.saturating_sub(self.kicks),
                Kick::Random => u32::try_from(self.random.key(self.moves) % 4).unwrap_or(0),
            };
            let slot = usize::try_from(slot).unwrap_or(0).min(BUCKET_SIZE - 1);
            let out = self.bucket(entry[0])[slot].replace(entry);
            entry = out.map_or(entry, |[here, other]| [other, here]);
            done = self.put(entry);
        }
        self.len += u64::from(done);
        done
    }

    fn fill(log_buckets: u32, kick: Kick, kicks: u32, seed: u64) -> f64 {
        let mut table = Self::new(log_buckets, kick, kicks);
        let keys = Keys::new(seed);
        let places = |position: u64| {
            [0_u64, 1].map(|which| {
                let hash = keys.key(2 * position + which) >> (64 - log_buckets);
                u32::try_from(hash).unwrap_or(0)
            })
        };
        let mut positions = 0..;
        while positions.next().is_some_and(|position| table.insert(places(position))) {}
        table.len as f64 / table.slots.len() as f64 * 100.0
    }
}

/// Mean loads at the first refusal, in percent, by kicks and size.
pub(in crate::paper) fn loads(scale: &Scale) -> Vec<Value> {
    let runs = u64::from(scale.runs) * RUNS;
    let mut values = Vec::new();
    for log in SIZES {
        let column = format!("2^{} slots, %", log + 2);
        let bytes = size_of::<Slot>() as u64 * (4 << log);
        let mut cell = |name: &str, fill: &(dyn Fn(u64) -> f64 + Sync), said: Option<f64>| {
            let loads = of_runs(runs, bytes, fill);
            let mean = loads.iter().sum::<f64>() / loads.len() as f64;
            values.push(Value::cell(&column, name, mean, said));
        };
        for kicks in [0, 50, 512] {
            let fill = move |seed| Toy::fill(log, Kick::First, kicks, seed);
            let said = (kicks == 512).then_some(SAID[0]);
            cell(&format!("the first slot, {kicks} kicks"), &fill, said);
        }
        for kicks in [50, 500] {
            let fill = move |seed| Toy::fill(log, Kick::Random, kicks, seed);
            let said = (kicks == 500).then_some(SAID[1]);
            cell(&format!("a random slot, {kicks} kicks"), &fill, said);
        }
        let walk = |seed| {
            let mut table: Walk<u32> = Walk::new(log, BUCKET_SIZE, 12);
            table.fill(Keys::new(seed));
            table.load() * 100.0
        };
        cell("a random slot, 500 kicks, 12-bit fingerprints", &walk, Some(SAID[1]));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn always_kicking_out_the_first_slot_ends_earlier() {
        let mean =
            |kick, kicks| (1..=10).map(|seed| Toy::fill(10, kick, kicks, seed)).sum::<f64>() / 10.0;
        let (none, first, random) =
            (mean(Kick::First, 0), mean(Kick::First, 512), mean(Kick::Random, 500));
        assert!(none < first && first < random, "{none}, {first}, {random}");
        assert!((95.0..98.0).contains(&random), "{random}");
    }
}
