//! Files that the file system cannot open, because what it knows of them is damaged.

use std::path::{Path, PathBuf};

use malkoha_store::{Error, Store};

use crate::mounts::Loop;
use crate::support::{Contents, assert_holds, contents, key, options};

/// A store of several files on a real file system, and what it has.
fn filled(path: &Path) -> Contents {
    let store = Store::open(path, &options()).unwrap();
    let mut expected = Contents::new();
    for n in 0..600 {
        store.put(&key(n), &[1; 50]).unwrap();
        expected.insert(key(n), vec![1; 50]);
    }
    store.close().unwrap();
    expected
}

fn log(path: &Path, number: u32) -> PathBuf {
    path.join(format!("{number:012}.log"))
}

/// A log file whose inode does not match its checksum cannot be opened, looked at, renamed or
/// removed. Nothing of the store could be read then, not even past damage.
#[test]
fn a_file_that_cannot_be_opened_is_a_damaged_one() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 16) else { return };
    let path = device.path().join("store");
    let expected = filled(&path);
    let broken = log(&path, 2);
    device.damage_inode(&broken);
    let refused = Store::open(&path, &options()).err().expect("it is damaged").to_string();
    assert!(refused.contains("cannot read '000000000002.log'"), "{refused}");
    let store = Store::open_past_damage(&path).unwrap();
    let skipped: Vec<_> = store.recovery().skipped.iter().map(Error::to_string).collect();
    assert!(skipped.iter().any(|it| it.contains("cannot read '000000000002.log'")), "{skipped:?}");
    let left = contents(&store);
    assert!((300..600).contains(&left.len()), "{} keys are left", left.len());
    assert!(left.iter().all(|(key, value)| expected.get(key) == Some(value)));
    assert!(store.verify().unwrap().damage.is_empty());
    drop(store);
    // Only a check of the file system moves such a file.
    let refused = Store::repair(&path).unwrap_err().to_string();
    assert!(refused.contains("rename '000000000002.log'") && refused.contains("fsck"), "{refused}");
    device.damage_inode(&broken);
    assert_holds(&Store::open(&path, &options()).unwrap(), &expected);
}
