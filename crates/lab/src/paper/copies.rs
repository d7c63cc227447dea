//! One item inserted 15 times: a Go program that put "geeky ogre" into an 8-bit cuckoo filter saw
//! eight successes, then refusals.

use anyhow::Result;
use malkoha_classic::{BucketedCuckooTable, CuckooHashTable};

use super::structures;
use super::values::Value;
use super::walk::Walk;
use crate::keys::Keys;
use crate::subject::{How, Operation};

const COPIES: u32 = 15;
/// The row of the paper's algorithm.
pub const WALK: &str = "the paper's walk, b = 4";
/// Slots of each structure, as a power of two: the experiment does not depend on it.
const SLOTS: u32 = 16;

/// Accepted copies, and how many of them could be removed again.
pub(super) fn inserts() -> Result<Vec<Value>> {
    let item = [Keys::new(1).key(0)];
    // The paper, section 6: one item can be inserted kb = 8 times with k = 2 and b = 4.
    let mut walk: Walk<u32> = Walk::new(10, 4, 8);
    let accepted = (0..COPIES).filter(|_| walk.insert(item[0]).is_ok()).count();
    let mut values = vec![Value::cell("accepted", WALK, accepted as f64, Some(8.0))];
    for structure in structures::all() {
        let mut subject = (structure.make)(1 << SLOTS)?;
        let mut refused = Vec::new();
        for _ in 0..COPIES {
            subject.insert(How::Single, &item, &mut refused);
        }
        let accepted = f64::from(COPIES) - refused.len() as f64;
        values.push(Value::cell("accepted", structure.name, accepted, None));
        if subject.can(Operation::Remove, How::Single) {
            let mut removed = 0;
            while removed < u64::from(COPIES)
                && subject.remove(How::Single, &item, &mut [false]) > 0
            {
                removed += 1;
            }
            values.push(Value::cell("removed again", structure.name, removed as f64, None));
        }
    }
    values.extend(exact(&mut CuckooHashTable::with_capacity(1000)?, "cuckoo table 2 x 1", item[0]));
    let mut wide = BucketedCuckooTable::<_, _, 4, 2>::with_capacity(1000)?;
    values.extend(exact(&mut wide, "cuckoo table 4 x 2", item[0]));
    Ok(values)
}

/// A table with keys replaces what is in already.
fn exact<const D: usize, const B: usize>(
    table: &mut BucketedCuckooTable<u64, (), D, B>,
    name: &str,
    item: u64,
) -> [Value; 2] {
    let accepted = (0..COPIES).filter(|_| table.insert(item, ()).is_ok()).count();
    let removed = (0..COPIES).filter(|_| table.remove(&item).is_some()).count();
    [
        Value::cell("accepted", name, accepted as f64, None),
        Value::cell("removed again", name, removed as f64, None),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_accepted_can_be_removed() {
        let values = inserts().unwrap();
        let of = |column: &str, row: &str| {
            values.iter().find(|cell| cell.group == column && cell.series == row).unwrap().y
        };
        assert_eq!(of("accepted", WALK), 8.0);
        for row in ["CF", "ss-CF", "gap windows", "growable", "concurrent", "QF", "dl-CBF", "CBF"] {
            assert_eq!((of("accepted", row), of("removed again", row)), (15.0, 15.0), "{row}");
        }
        assert_eq!(of("removed again", "cuckoo table 4 x 2"), 1.0);
    }
}
