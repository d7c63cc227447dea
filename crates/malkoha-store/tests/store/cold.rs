//! Records that are not in memory.

use std::fs::File;

use malkoha_store::{Batch, Store};
use rustix::fs::{Advice, fadvise};

use crate::support::{Contents, Dir, assert_holds, key};

/// Looked up one by one, many at once, and in the order of the log, with long values among them. On
/// file systems in memory they stay there.
#[test]
fn what_is_on_the_device_alone_is_found() {
    let dir = Dir::new();
    let mut expected = Contents::new();
    let store = dir.open();
    let mut batch = Batch::new();
    for n in 0..20_000_u32 {
        let bytes = if n % 500 == 0 { 100_000 } else { 100 };
        let value = vec![n.to_le_bytes()[0]; bytes];
        batch.put(&key(n), &value).unwrap();
        expected.insert(key(n), value);
        if batch.len() == 100 {
            store.apply(&batch).unwrap();
            batch.clear();
        }
    }
    store.close().unwrap();
    for path in dir.logs() {
        let file = File::open(path).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
    let store = Store::open_read_only(dir.path()).unwrap();
    let keys: Vec<&[u8]> = expected.keys().map(|key| &key[..]).collect();
    let found = |i: usize, value: Option<&[u8]>| {
        assert_eq!(value, expected.get(keys[i]).map(|value| &value[..]));
    };
    store.get_many(&keys, found).unwrap();
    assert_holds(&store, &expected);
}
