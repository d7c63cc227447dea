//! Stores that earlier releases wrote are read: version 1 of the log, of the checkpoint and of the
//! records of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use malkoha_store::{Batch, Chunking, Compression, Digest, FileStore, Metadata, Options, Store};

use crate::support::{Contents, Dir, assert_holds, key, options};

const FILE: [u8; 3000] = [7; 3000];
const METADATA: Metadata = Metadata { mode: Some(0o640), modified: Some(UNIX_EPOCH) };

fn value(n: u32) -> Vec<u8> {
    format!("value {n}").repeat(3).into_bytes()
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1")
}

/// Writes the fixture again, if `MALKOHA_WRITE_FIXTURES` is set. A released one stays as it is.
#[test]
fn write_fixture() {
    if std::env::var_os("MALKOHA_WRITE_FIXTURES").is_none() {
        return;
    }
    let path = fixture();
    let _ = fs::remove_dir_all(&path);
    let open = |options: Options| Store::open(&path, &options.file_bytes(4096)).unwrap();
    let store = open(options().compression(Compression::Lz4));
    for n in 0..120 {
        store.put(&key(n), &value(n)).unwrap();
    }
    (0..120).step_by(3).for_each(|n| assert!(store.delete(&key(n)).unwrap()));
    store.put(b"packed", &[7; 1000]).unwrap();
    let age = Duration::from_secs(3000 * 365 * 86_400);
    store.put_for(b"long", b"for 3000 years", age).unwrap();
    store.table("birds").unwrap().put(b"koel", b"Eudynamys").unwrap();
    store.close().unwrap();
    let store = open(options());
    store.compact().unwrap();
    let mut batch = Batch::new();
    batch.put(&key(0), b"in a batch").unwrap().put(&key(1), b"in a batch").unwrap();
    batch.within("birds").delete(b"none").unwrap();
    store.apply(&batch).unwrap();
    let file_store = FileStore::new(&store);
    for (name, digest) in [("sha256", Digest::Sha256), ("blake3", Digest::Blake3)] {
        file_store.import(name, &FILE[..], METADATA, Chunking::Fixed(1024), digest).unwrap();
    }
    file_store.import_directory("directory", METADATA).unwrap();
    file_store.import_link("link", b"directory").unwrap();
    store.close().unwrap();
    fs::remove_file(path.join("LOCK")).unwrap();
}

#[test]
fn a_store_of_version_1_is_read() {
    for checkpointed in [true, false] {
        let dir = Dir::new();
        for entry in fs::read_dir(fixture()).unwrap().map(|entry| entry.unwrap()) {
            if checkpointed || entry.file_name() != "CHECKPOINT" {
                fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
            }
        }
        let store = dir.open();
        assert!(store.recovery().checkpoint.is_none());
        let file_store = FileStore::new(&store);
        for name in ["sha256", "blake3"] {
            let mut bytes = Vec::new();
            file_store.export(name, &mut bytes).unwrap();
            assert_eq!(bytes, FILE);
            assert_eq!(file_store.info(name).unwrap().unwrap().metadata, METADATA);
        }
        assert_eq!(file_store.files().unwrap().len(), 4);
        for name in ["sha256", "blake3", "directory", "link"] {
            assert!(file_store.remove(name).unwrap());
        }
        assert_eq!(file_store.collect().unwrap().chunks, 4);
        let birds = store.table("birds").unwrap();
        assert_eq!(birds.get(b"koel").unwrap().as_deref(), Some(&b"Eudynamys"[..]));
        assert!(store.remove_table("birds").unwrap());
        let mut expected: Contents =
            (0..120).filter(|n| n % 3 > 0).map(|n| (key(n), value(n))).collect();
        expected.insert(key(0), b"in a batch".to_vec());
        expected.insert(key(1), b"in a batch".to_vec());
        expected.insert(b"packed".to_vec(), vec![7; 1000]);
        expected.insert(b"long".to_vec(), b"for 3000 years".to_vec());
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
