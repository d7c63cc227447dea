//! Stores that older releases wrote.

use std::fs;
use std::path::Path;

use crate::support::{Contents, Dir, assert_holds, key};

/// Its checkpoint does not say when records end.
#[test]
fn a_store_of_version_1_is_read() {
    for checkpointed in [true, false] {
        let dir = Dir::new();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1");
        for entry in fs::read_dir(fixture).unwrap().map(|entry| entry.unwrap()) {
            if checkpointed || entry.file_name() != "CHECKPOINT" {
                fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
            }
        }
        let mut expected = Contents::new();
        for n in (0..120_u32).filter(|n| n % 3 > 0) {
            expected.insert(key(n), format!("value {n}").repeat(3).into_bytes());
        }
        expected.insert(key(0), b"in a batch".to_vec());
        expected.insert(key(1), b"in a batch".to_vec());
        expected.insert(b"long".to_vec(), b"for 3000 years".to_vec());
        let store = dir.open();
        store.compact().unwrap();
        assert_holds(&store, &expected);
        store.put(b"new", b"1").unwrap();
        expected.insert(b"new".to_vec(), b"1".to_vec());
        store.close().unwrap();
        let store = dir.open();
        assert_holds(&store, &expected);
        assert!(store.verify().unwrap().damage.is_empty());
    }
}
