//! Copies that are interrupted.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use malkoha_store::{Error, Store};
use tempfile::TempDir;

use crate::support::{Contents, Dir, assert_holds, options, put_all};
use crate::wrapped::{Hooks, Wrapped};

/// Does something before a file gets a second name.
struct BeforeLink<F> {
    /// Files that have one.
    linked: AtomicUsize,
    /// Called with their number.
    action: F,
}

impl<F: Fn(usize) + Send + Sync + 'static> Hooks for BeforeLink<F> {
    fn before_link(&self) {
        (self.action)(self.linked.fetch_add(1, Ordering::Relaxed));
    }
}

fn watched<F: Fn(usize) + Send + Sync + 'static>(dir: &Dir, action: F) -> Store {
    let (storage, _) = Wrapped::new(dir.path(), BeforeLink { linked: AtomicUsize::new(0), action });
    Store::open_in(storage, None, &options()).unwrap()
}

/// A backup that was killed opened as a store of the keys that it had so far, and verify found it
/// whole.
#[test]
fn an_interrupted_backup_is_no_store() {
    let dir = Dir::new();
    let mut expected = Contents::new();
    let store = dir.open();
    put_all(&store, &mut expected, 0..2000, &[1; 50]);
    store.close().unwrap();
    // Each time one file more; the last one is the checkpoint.
    for files in 0..=dir.logs().len() {
        let copies = TempDir::new().unwrap();
        let copy = copies.path().join("copy");
        // As if the process were killed: nothing is cleaned up.
        let store = watched(&dir, move |linked| assert_ne!(linked, files, "killed"));
        let store = Arc::new(store);
        let backup = {
            let (store, copy) = (Arc::clone(&store), copy.clone());
            std::thread::spawn(move || store.backup(copy))
        };
        assert!(backup.join().is_err(), "it was not killed");
        assert!(copy.join("BACKUP.unfinished").exists());
        for error in [
            Store::open(&copy, &options().create(false)).err(),
            Store::open_read_only(&copy).err(),
            Store::repair(&copy).err(),
        ] {
            let error = error.expect("it is no store");
            assert!(matches!(error, Error::UnfinishedBackup | Error::NoStore(_)), "{error}");
        }
        drop(store);
        // Made again, it is whole.
        dir.open().backup(&copy).unwrap();
        assert!(!copy.join("BACKUP.unfinished").exists());
        let mark = fs::read_to_string(copy.join("BACKUP")).unwrap();
        assert!(mark.starts_with("keys 2000\n") && mark.ends_with("\nwhole\n"), "{mark}");
        assert_holds(&Store::open(&copy, &options()).unwrap(), &expected);
    }
}

/// The second backup into a directory took the first one for interrupted and removed its files.
/// The first one went on, and reported a whole copy.
#[test]
fn two_backups_do_not_go_into_one_directory() {
    let (dir, other) = (Dir::new(), Dir::new());
    let mut expected = Contents::new();
    let store = dir.open();
    put_all(&store, &mut expected, 0..2000, &[1; 50]);
    store.close().unwrap();
    let other = other.open();
    other.put(b"other", b"").unwrap();
    let copies = TempDir::new().unwrap();
    let copy = copies.path().join("copy");
    let meet = Arc::new(Barrier::new(2));
    let store = watched(&dir, {
        let meet = Arc::clone(&meet);
        // One file is there by then.
        move |linked| {
            if linked == 1 {
                meet.wait();
                meet.wait();
            }
        }
    });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| store.backup(&copy));
        meet.wait();
        let second = other.backup(&copy);
        meet.wait();
        assert!(matches!(second, Err(Error::Option(_))), "{second:?}");
        first.join().unwrap().unwrap();
    });
    assert_holds(&Store::open(&copy, &options()).unwrap(), &expected);
}

#[test]
fn a_backup_spares_the_files_of_others() {
    let (dir, copy) = (Dir::new(), TempDir::new().unwrap());
    dir.open().put(b"key", b"value").unwrap();
    fs::write(copy.path().join("BACKUP.unfinished"), "").unwrap();
    fs::write(copy.path().join("letter"), "dear").unwrap();
    let error = dir.open().backup(copy.path()).unwrap_err();
    assert!(matches!(error, Error::Option(_)), "{error}");
    assert_eq!(fs::read_to_string(copy.path().join("letter")).unwrap(), "dear");
}
