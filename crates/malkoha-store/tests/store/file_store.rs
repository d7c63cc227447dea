//! Files in chunks, directories and links.

use std::time::{Duration, UNIX_EPOCH};

use malkoha_store::{Chunking, Digest, Error, FileKind, FileStore, Import, Metadata, Store};

use crate::support::{Dir, options};

const CONTENT: [u8; 3000] = [7; 3000];
/// Bytes of a record before its content.
const HEAD: usize = 24;

fn import(file_store: FileStore<'_>, name: &str, metadata: Metadata) -> Import {
    let chunking = Chunking::Fixed(1024);
    file_store.import(name, &CONTENT[..], metadata, chunking, Digest::Sha256).unwrap()
}

fn exported(file_store: FileStore<'_>, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    file_store.export(name, &mut bytes).unwrap();
    bytes
}

#[test]
fn files_directories_and_links_are_kept() {
    let dir = Dir::new();
    let store = dir.open();
    let file_store = FileStore::new(&store);
    let metadata =
        Metadata { mode: Some(0o4755), modified: Some(UNIX_EPOCH - Duration::new(86_400, 1)) };
    import(file_store, "d/file", metadata);
    let whole_seconds =
        Metadata { mode: None, modified: Some(UNIX_EPOCH - Duration::from_secs(2)) };
    file_store.import_directory("d", whole_seconds).unwrap();
    file_store.import_link(b"\xff", b"../\xfe").unwrap();
    let files = file_store.files().unwrap();
    let names: Vec<_> = files.iter().map(|file| &*file.name).collect();
    assert_eq!(names, [&b"d"[..], b"d/file", b"\xff"]);
    assert_eq!(files[0].kind, FileKind::Directory);
    assert_eq!((&files[1].kind, files[1].bytes, files[1].chunks), (&FileKind::File, 3000, 3));
    assert_eq!(files[2].kind, FileKind::Link(b"../\xfe".to_vec()));
    assert_eq!((files[0].metadata, files[1].metadata), (whole_seconds, metadata));
    assert_eq!(file_store.info("d/file").unwrap().as_ref(), Some(&files[1]));
    assert_eq!(file_store.info("d/").unwrap(), None);
    let error = file_store.export("d", Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "'d' cannot be restored: it is no file, so it has no bytes");
    assert!(matches!(file_store.import_link("l", b""), Err(Error::Option(_))));
    assert!(matches!(file_store.import_link("l", b"a\0b"), Err(Error::Option(_))));
    // What has a name is replaced by what gets it.
    file_store.import_directory("d/file", Metadata::default()).unwrap();
    assert_eq!(file_store.info("d/file").unwrap().unwrap().kind, FileKind::Directory);
    assert_eq!(file_store.collect().unwrap().chunks, 2);
}

/// What an older release cannot read it leaves alone, chunks too.
#[test]
fn records_of_other_versions_are_refused() {
    let dir = Dir::new();
    let store = dir.open();
    let file_store = FileStore::new(&store);
    import(file_store, "file", Metadata::default());
    let mut record = store.get(b"ffile").unwrap().unwrap();
    record[4] = 2;
    store.put(b"ffile", &record).unwrap();
    for error in [
        file_store.files().unwrap_err(),
        file_store.collect().unwrap_err(),
        file_store.export("file", Vec::new()).unwrap_err(),
        file_store.remove("file").unwrap_err(),
    ] {
        assert!(matches!(error, Error::Version { found: 2, supported: 1, .. }), "{error}");
    }
    // Ours, and not whole: this is reported, and nothing is collected.
    record[4] = 1;
    for length in [6, 8, HEAD, HEAD + 8, record.len() - 1] {
        store.put(b"ffile", &record[..length]).unwrap();
        assert!(matches!(file_store.collect(), Err(Error::Broken { .. })), "{length}");
    }
    // No such mode, and no such nanoseconds.
    for at in [11, 15] {
        let mut changed = record.clone();
        changed[at] = 0x7f;
        store.put(b"ffile", &changed).unwrap();
        assert!(matches!(file_store.collect(), Err(Error::Broken { .. })), "{at}");
    }
    store.put(b"ffile", &record).unwrap();
    assert_eq!(exported(file_store, "file"), CONTENT);
}

/// Another user's keys are not taken for those of files and chunks.
#[test]
fn other_keys_are_left_alone() {
    let dir = Dir::new();
    let store = Store::open(dir.path(), &options()).unwrap();
    let file_store = FileStore::new(&store);
    for key in ["cuckoo", "cat", "f", "fbad", "dog", "c\u{1}01234567890123456789"] {
        store.put(key.as_bytes(), b"value").unwrap();
    }
    import(file_store, "file", Metadata::default());
    assert_eq!(file_store.collect().unwrap().chunks, 0);
    assert!(!file_store.remove("bad").unwrap());
    let (metadata, chunking) = (Metadata::default(), Chunking::default());
    for refused in [
        file_store
            .import("bad", &b"never stored"[..], metadata, chunking, Digest::Sha256)
            .map(drop),
        file_store.import_directory("bad", metadata),
        file_store.import_link("bad", b"target"),
    ] {
        assert_eq!(
            refused.unwrap_err().to_string(),
            "'bad' cannot be stored: the key 'fbad' has a value that is no file's: delete that, or \
             keep files in a store of their own"
        );
    }
    assert_eq!(store.get(b"fbad").unwrap().unwrap(), b"value");
    assert!(matches!(file_store.export("bad", Vec::new()), Err(Error::NoFile(_))));
    assert!(file_store.remove("file").unwrap());
    assert_eq!(file_store.collect().unwrap().chunks, 2);
    assert_eq!(store.len(), 6);
}

#[test]
fn every_digest_gives_back_what_was_stored_and_stores_a_chunk_once() {
    let dir = Dir::new();
    let store = dir.open();
    let file_store = FileStore::new(&store);
    for digest in [Digest::Sha256, Digest::Blake3] {
        let name = format!("{digest:?}");
        let fixed = Chunking::Fixed(1024);
        let found =
            file_store.import(&name, &CONTENT[..], Metadata::default(), fixed, digest).unwrap();
        // Two whole chunks are the same one.
        assert_eq!((found.chunks, found.new_bytes), (3, 1024 + 952));
        assert_eq!(exported(file_store, &name), CONTENT);
    }
    assert_eq!(Digest::default(), Digest::Blake3);
}
