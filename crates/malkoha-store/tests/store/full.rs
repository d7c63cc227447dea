//! Full devices on real file systems: what is deleted gives its space back.

use malkoha_store::{Durability, Error, Options, Store, Table};

use crate::mounts::Loop;
use crate::support::key;

fn full_options() -> Options {
    Options::new().background(false).durability(Durability::System)
}

/// Puts into a table until the device is full. Returns how many were put.
fn fill(table: &Table<'_>, value: &[u8]) -> u32 {
    let refused = (0..).find_map(|n| table.put(&key(n), value).err().map(|error| (n, error)));
    let (full, error) = refused.unwrap();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    full
}

/// Also where nothing but the table can make room for its tombstones.
#[test]
fn a_table_that_fills_a_device_can_be_removed() {
    for value in [1000, 100] {
        let Some(device) = Loop::new(&["mkfs.ext4"], 24) else { return };
        let path = device.path().join("store");
        let store = Store::open(&path, &full_options()).unwrap();
        store.put(b"koel", b"stays").unwrap();
        let full = fill(&store.table("birds").unwrap(), &vec![7; value]);
        assert!(store.remove_table("birds").unwrap());
        assert!(store.tables().is_empty());
        assert_eq!(store.len(), 1);
        store.compact().unwrap();
        let again = fill(&store.table("hosts").unwrap(), &vec![7; value]);
        assert!(again > full / 10 * 9, "{again} of {full}, values of {value} bytes");
        store.close().unwrap();
        let store = Store::open(&path, &full_options()).unwrap();
        assert_eq!(store.get(b"koel").unwrap().as_deref(), Some(&b"stays"[..]));
        assert_eq!(store.tables(), ["hosts"]);
    }
}
