//! Files in chunks, directories and links.

use std::time::{Duration, UNIX_EPOCH};

use malkoha_store::{
    Chunking, Collected, Digest, Error, FileKind, Import, Library, Metadata, Store,
};

use crate::support::{Dir, options};

const CONTENT: [u8; 3000] = [7; 3000];
/// Bytes of a record of version 2 before its content.
const HEAD: usize = 24;

fn import(library: Library<'_>, name: &str, metadata: Metadata) -> Import {
    let chunking = Chunking::Fixed(1024);
    library.import(name, &CONTENT[..], metadata, chunking, Digest::Sha1).unwrap()
}

fn exported(library: Library<'_>, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    library.export(name, &mut bytes).unwrap();
    bytes
}

#[test]
fn files_directories_and_links_are_kept() {
    let dir = Dir::new();
    let store = dir.open();
    let library = Library::new(&store);
    let metadata =
        Metadata { mode: Some(0o4755), modified: Some(UNIX_EPOCH - Duration::new(86_400, 1)) };
    import(library, "d/file", metadata);
    library.import_directory("d", metadata).unwrap();
    library.import_link(b"\xff", b"../\xfe").unwrap();
    let files = library.files().unwrap();
    let names: Vec<_> = files.iter().map(|file| &*file.name).collect();
    assert_eq!(names, [&b"d"[..], b"d/file", b"\xff"]);
    assert_eq!(files[0].kind, FileKind::Directory);
    assert_eq!((&files[1].kind, files[1].bytes, files[1].chunks), (&FileKind::File, 3000, 3));
    assert_eq!(files[2].kind, FileKind::Link(b"../\xfe".to_vec()));
    assert_eq!((files[0].metadata, files[1].metadata), (metadata, metadata));
    assert_eq!(library.info("d/file").unwrap().as_ref(), Some(&files[1]));
    assert_eq!(library.info("d/").unwrap(), None);
    let error = library.export("d", Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "'d' cannot be restored: it is no file, so it has no bytes");
    assert!(matches!(library.import_link("l", b""), Err(Error::Option(_))));
    assert!(matches!(library.import_link("l", b"a\0b"), Err(Error::Option(_))));
    // What has a name is replaced by what gets it.
    library.import_directory("d/file", Metadata::default()).unwrap();
    assert_eq!(library.info("d/file").unwrap().unwrap().kind, FileKind::Directory);
    assert_eq!(library.collect().unwrap().chunks, 2);
}

#[test]
fn records_of_version_1_are_read() {
    let dir = Dir::new();
    let store = dir.open();
    let library = Library::new(&store);
    import(library, "new", Metadata { mode: Some(0o600), modified: Some(UNIX_EPOCH) });
    let record = store.get(b"fnew").unwrap().unwrap();
    let old = [&[1], &record[HEAD..]].concat();
    store.put(b"fold", &old).unwrap();
    assert!(library.remove("new").unwrap());
    assert_eq!(library.collect().unwrap(), Collected::default());
    let files = library.files().unwrap();
    assert_eq!((files.len(), files[0].bytes, files[0].chunks), (1, 3000, 3));
    assert_eq!(files[0].metadata, Metadata::default());
    assert_eq!(exported(library, "old"), CONTENT);
}

/// What an older release cannot read it leaves alone, chunks too.
#[test]
fn records_of_other_versions_are_refused() {
    let dir = Dir::new();
    let store = dir.open();
    let library = Library::new(&store);
    import(library, "file", Metadata::default());
    let mut record = store.get(b"ffile").unwrap().unwrap();
    record[4] = 3;
    store.put(b"ffile", &record).unwrap();
    for error in [
        library.files().unwrap_err(),
        library.collect().unwrap_err(),
        library.export("file", Vec::new()).unwrap_err(),
        library.remove("file").unwrap_err(),
    ] {
        assert!(matches!(error, Error::Version { found: 3, supported: 2, .. }), "{error}");
    }
    // Ours, and not whole: this is reported, and nothing is collected.
    record[4] = 2;
    for length in [6, 8, HEAD, HEAD + 8, record.len() - 1] {
        store.put(b"ffile", &record[..length]).unwrap();
        assert!(matches!(library.collect(), Err(Error::Broken { .. })), "{length}");
    }
    store.put(b"ffile", &record).unwrap();
    assert_eq!(exported(library, "file"), CONTENT);
}

/// Another user's keys are not taken for those of files and chunks.
#[test]
fn other_keys_are_left_alone() {
    let dir = Dir::new();
    let store = Store::open(dir.path(), &options()).unwrap();
    let library = Library::new(&store);
    for key in ["cuckoo", "cat", "f", "fbad", "dog", "c\u{1}01234567890123456789"] {
        store.put(key.as_bytes(), b"value").unwrap();
    }
    import(library, "file", Metadata::default());
    assert_eq!(library.collect().unwrap().chunks, 0);
    assert!(!library.remove("bad").unwrap());
    let (metadata, chunking) = (Metadata::default(), Chunking::default());
    for refused in [
        library.import("bad", &b"never stored"[..], metadata, chunking, Digest::Sha1).map(drop),
        library.import_directory("bad", metadata),
        library.import_link("bad", b"target"),
    ] {
        assert_eq!(
            refused.unwrap_err().to_string(),
            "'bad' cannot be stored: the key 'fbad' has a value that is no file's: delete that, or \
             keep files in a store of their own"
        );
    }
    assert_eq!(store.get(b"fbad").unwrap().unwrap(), b"value");
    assert!(matches!(library.export("bad", Vec::new()), Err(Error::NoFile(_))));
    assert!(library.remove("file").unwrap());
    assert_eq!(library.collect().unwrap().chunks, 2);
    assert_eq!(store.len(), 6);
}

/// Two different chunks with the same SHA-1 were once both restored as the first, without an error.
/// The test simulates a collision: the store has another chunk under the hash.
#[test]
fn a_chunk_whose_sha1_another_has_is_refused() {
    let dir = Dir::new();
    let store = dir.open();
    let library = Library::new(&store);
    let fixed = Chunking::Fixed(1024);
    let metadata = Metadata::default();
    library.import("file", &b"cuckoo"[..], metadata, fixed, Digest::Sha1).unwrap();
    let chunks = store.snapshot();
    let key = chunks.iter().map(|entry| entry.unwrap().key.to_vec()).find(|key| key[0] == b'c');
    store.put(&key.unwrap(), b"koel").unwrap();
    let error = library.import("other", &b"cuckoo"[..], metadata, fixed, Digest::Sha1).unwrap_err();
    assert!(matches!(error, Error::Collision { .. }), "{error}");
    assert!(error.to_string().contains("import it with BLAKE3"), "{error}");
    assert_eq!(library.info("other").unwrap(), None);
    library.import("other", &b"cuckoo"[..], metadata, fixed, Digest::default()).unwrap();
    assert_eq!(exported(library, "other"), b"cuckoo");
}

#[test]
fn every_digest_gives_back_what_was_stored_and_stores_a_chunk_once() {
    let dir = Dir::new();
    let store = dir.open();
    let library = Library::new(&store);
    for digest in [Digest::Sha1, Digest::Sha256, Digest::Blake3] {
        let name = format!("{digest:?}");
        let fixed = Chunking::Fixed(1024);
        let found =
            library.import(&name, &CONTENT[..], Metadata::default(), fixed, digest).unwrap();
        // Two whole chunks are the same one.
        assert_eq!((found.chunks, found.new_bytes), (3, 1024 + 952));
        assert_eq!(exported(library, &name), CONTENT);
    }
    assert_eq!(Digest::default(), Digest::Blake3);
}
