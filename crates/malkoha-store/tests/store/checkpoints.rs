//! Checkpoints that are not what was written. None is believed, and the log has the same content.

use std::fs;

use malkoha_store::{Error, Result, Store};

use crate::support::{Dir, filled};

fn open(dir: &Dir, checkpoint: &[u8]) -> Result<Store> {
    fs::write(dir.path().join("CHECKPOINT"), checkpoint).unwrap();
    Store::open_read_only(dir.path())
}

/// Every place in the head and in the list of files; a few in each part of the index.
#[test]
fn no_part_of_a_checkpoint_may_be_missing_or_changed() {
    let (dir, expected) = filled();
    let whole = fs::read(dir.path().join("CHECKPOINT")).unwrap();
    assert!(open(&dir, &whole).unwrap().recovery().checkpoint.is_none());
    let refused = |bytes: &[u8], what: &str| {
        let store = open(&dir, bytes).unwrap();
        let damage = store.recovery().checkpoint.as_ref();
        assert!(matches!(damage, Some(Error::Damaged { .. })), "{what}: {damage:?}");
        assert_eq!(store.len(), expected.len() as u64, "{what}");
    };
    for at in (0..340).chain((340..whole.len()).step_by(499)) {
        refused(&whole[..at], &format!("{at} bytes"));
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        refused(&changed, &format!("byte {at} changed"));
    }
    refused(&[&whole[..], &[0]].concat(), "one byte more");
    let numbers = [1 << 26, 1 << 58, 1 << 60, 1 << 63, u64::MAX];
    // How many files there are; how many ends the first one has, and the second.
    for (at, number) in [32, 64 + 56, 128 + 56].into_iter().flat_map(|at| numbers.map(|n| (at, n)))
    {
        let mut changed = whole.clone();
        changed[at..at + 8].copy_from_slice(&u64::to_le_bytes(number));
        refused(&changed, &format!("{number} at byte {at}"));
    }
}
