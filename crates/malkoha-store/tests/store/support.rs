//! A directory, and stores in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use malkoha_store::{Durability, Entries, Options, Store, Table, TableSnapshot};
use tempfile::TempDir;

pub(crate) type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

/// Small files, nothing in the background, nothing random.
pub(crate) fn options() -> Options {
    Options::new().durability(Durability::System).file_bytes(1 << 14).background(false).seed(1)
}

pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(self.path(), &options()).unwrap()
    }

    /// Log files, in order.
    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut logs: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|it| it == "log")).collect();
        logs.sort();
        logs
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path().join(name)).unwrap();
    }
}

/// Makes `to` a directory with the files of `from`, each by `make`: a copy, as a crash would leave
/// the store, or a hard link.
pub(crate) fn each_file<T>(
    from: &Path,
    to: &Path,
    make: impl Fn(PathBuf, PathBuf) -> std::io::Result<T>,
) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        make(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A small generator: the same workload every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

pub(crate) fn key(n: u32) -> Vec<u8> {
    format!("key {n}").into_bytes()
}

/// Puts keys with one value into a store, and into its expected contents.
pub(crate) fn put_all(
    store: &Store,
    expected: &mut Contents,
    keys: impl IntoIterator<Item = u32>,
    value: &[u8],
) {
    for n in keys {
        store.put(&key(n), value).unwrap();
        expected.insert(key(n), value.to_vec());
    }
}

/// Deletes keys of a store, and of its expected contents.
pub(crate) fn delete_all(
    store: &Store,
    expected: &mut Contents,
    keys: impl IntoIterator<Item = u32>,
) {
    for n in keys {
        assert_eq!(store.delete(&key(n)).unwrap(), expected.remove(&key(n)).is_some(), "{n}");
    }
}

/// Keys and values, in the order in which they come.
pub(crate) fn pairs(entries: Entries<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let entries = entries.map(|entry| entry.unwrap());
    entries.map(|entry| (entry.key.to_vec(), entry.value.to_vec())).collect()
}

/// All that a store has, by iteration.
pub(crate) fn contents(store: &Store) -> Contents {
    table_contents(&store.main(), &store.snapshot().main())
}

fn table_contents(table: &Table<'_>, snapshot: &TableSnapshot<'_>) -> Contents {
    let pairs = pairs(snapshot.iter());
    assert!(!table.is_ordered() || pairs.is_sorted_by(|a, b| a.0 < b.0));
    let (count, contents) = (pairs.len(), Contents::from_iter(pairs));
    assert_eq!(contents.len(), count);
    contents
}

/// The store has exactly these keys: asked one by one, all at once, by iteration and by number.
#[track_caller]
pub(crate) fn assert_holds(store: &Store, expected: &Contents) {
    assert_eq!(store.len(), expected.len() as u64);
    assert_table_holds(&store.main(), &store.snapshot().main(), expected);
}

/// A table has exactly these keys: asked one by one, all at once, and by iteration.
#[track_caller]
pub(crate) fn assert_table_holds(
    table: &Table<'_>,
    snapshot: &TableSnapshot<'_>,
    expected: &Contents,
) {
    assert_eq!(&table_contents(table, snapshot), expected);
    let keys: Vec<_> =
        expected.keys().cloned().chain((0..50).map(|n| format!("absent {n}").into())).collect();
    let mut asked = 0;
    let each = |i: usize, value: Option<&[u8]>| {
        assert_eq!(value, expected.get(&keys[i]).map(Vec::as_slice));
        assert_eq!(i, asked);
        asked += 1;
    };
    table.get_many(&keys, each).unwrap();
    assert_eq!(asked, keys.len());
    for key in &keys {
        assert_eq!(table.get(key).unwrap().as_ref(), expected.get(key));
        assert_eq!(table.contains(key).unwrap(), expected.contains_key(key));
    }
}

/// Some files whose records were all synced. Made once, because syncs are slow.
pub(crate) fn filled() -> (Dir, Contents) {
    static FILES: OnceLock<(BTreeMap<PathBuf, Vec<u8>>, Contents)> = OnceLock::new();
    let (files, expected) = FILES.get_or_init(|| {
        let dir = Dir::new();
        let store = Store::open(dir.path(), &options().durability(Durability::Always)).unwrap();
        let mut expected = Contents::new();
        put_all(&store, &mut expected, 0..600, &[1; 50]);
        store.close().unwrap();
        let names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let file =
            |name: OsString| (PathBuf::from(&name), fs::read(dir.path().join(name)).unwrap());
        (names.map(file).collect(), expected)
    });
    let dir = Dir::new();
    files.iter().for_each(|(name, bytes)| fs::write(dir.path().join(name), bytes).unwrap());
    (dir, expected.clone())
}
