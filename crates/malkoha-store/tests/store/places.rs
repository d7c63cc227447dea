//! Where a store is: its path, and its neighbours.

use std::fs::{self, File};
use std::io::{Read, Write, pipe};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use malkoha_store::{Error, Store};
use tempfile::{NamedTempFile, TempDir};

use crate::support::{Contents, assert_holds, each_file, key, options, put_all};

fn fill(store: &Store, expected: &mut Contents, value: u8) {
    put_all(store, expected, 0..600, &[value; 50]);
}

/// Else its next file would be made in a directory that is another store's by then.
#[test]
fn a_store_that_is_moved_while_it_is_open_stays_the_same() {
    let dir = TempDir::new().unwrap();
    let (before, now) = (dir.path().join("before"), dir.path().join("now"));
    let moved = Store::open(&before, &options()).unwrap();
    moved.put(b"first", b"1").unwrap();
    fs::rename(&before, &now).unwrap();
    let other = Store::open(&before, &options()).unwrap();
    let mut expected = Contents::from([(b"first".to_vec(), b"1".to_vec())]);
    let mut others = Contents::new();
    fill(&moved, &mut expected, 1);
    fill(&other, &mut others, 2);
    assert!(matches!(Store::open(&now, &options()), Err(Error::OpenAlready)));
    moved.backup(dir.path().join("copy")).unwrap();
    for (store, path, expected) in [(moved, now, &expected), (other, before, &others)] {
        assert_holds(&store, expected);
        store.close().unwrap();
        assert_holds(&Store::open(&path, &options()).unwrap(), expected);
    }
    assert_holds(&Store::open(dir.path().join("copy"), &options()).unwrap(), &expected);
}

/// If the directory cannot be read, the error says so, and not that it is empty.
#[test]
fn a_path_that_leads_nowhere_is_not_taken_for_a_directory_without_a_store() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("circle");
    symlink(&path, &path).unwrap();
    let options = options().create(false);
    let refused =
        [Store::open_read_only(&path), Store::open(&path, &options)].map(|opened| opened.err());
    for error in refused {
        let error = error.unwrap();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert!(error.to_string().contains("circle'"), "{error}");
    }
}

/// Another machine, as this one sees it: it locks the file, but the lock of the directory does not
/// show.
#[test]
fn a_store_with_a_copy_by_links_is_in_use_by_who_locks_its_file() {
    let dir = TempDir::new().unwrap();
    let (original, copy) = (dir.path().join("original"), dir.path().join("copy"));
    let mut expected = Contents::new();
    let store = Store::open(&original, &options()).unwrap();
    fill(&store, &mut expected, 1);
    store.close().unwrap();
    each_file(&original, &copy, fs::hard_link);
    let elsewhere = File::open(original.join("LOCK")).unwrap();
    elsewhere.lock().unwrap();
    let opened = Store::open(&original, &options());
    assert!(matches!(opened.err(), Some(Error::Locked)));
    // The copy is not in use, and that it is used changes nothing.
    let copied = Store::open(&copy, &options()).unwrap();
    assert_holds(&copied, &expected);
    let opened = Store::open(&original, &options());
    assert!(matches!(opened.err(), Some(Error::Locked)));
    // Closing is not enough: a program that another test starts just now inherits the file.
    elsewhere.unlock().unwrap();
    assert_holds(&Store::open(&original, &options()).unwrap(), &expected);
    assert!(matches!(Store::open(&copy, &options()).err(), Some(Error::OpenAlready)));
}

/// With `LOCK` as a link in a store of another user, opening wrote the inode number of the
/// directory over the file that the link led to. A `RESERVE` of this kind cut it off. And opening a
/// pipe waited for another process to write to it.
#[test]
fn links_and_pipes_in_a_store_are_refused() {
    let victim = NamedTempFile::new().unwrap();
    let pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let link = |path: &Path| symlink(&victim, path).unwrap();
    let makers: [&dyn Fn(&Path); 2] = [&link, &pipe];
    for name in ["LOCK", "RESERVE", "CHECKPOINT", "000000000001.log"] {
        for make in makers {
            fs::write(&victim, "precious").unwrap();
            let dir = TempDir::new().unwrap();
            Store::open(dir.path(), &options()).unwrap().close().unwrap();
            let _ = fs::remove_file(dir.path().join(name));
            make(&dir.path().join(name));
            let written = Store::open(dir.path(), &options())
                .and_then(|store| (0..600).try_for_each(|n| store.put(&key(n), &[1; 50])));
            let error = written.unwrap_err().to_string();
            assert!(error.contains("regular files"), "{name}: {error}");
            assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name}");
        }
    }
}

/// The same if the file has a second name in a store.
#[test]
fn what_a_hard_link_in_a_store_leads_to_is_left_alone() {
    let victim = NamedTempFile::new().unwrap();
    let directory = victim.path().parent().unwrap();
    for name in ["LOCK", "RESERVE", "CHECKPOINT.new", "000000000001.log.new"] {
        fs::write(&victim, "precious").unwrap();
        let dir = TempDir::new_in(directory).unwrap();
        Store::open(dir.path(), &options()).unwrap().close().unwrap();
        let _ = fs::remove_file(dir.path().join(name));
        fs::hard_link(&victim, dir.path().join(name)).unwrap();
        if let Ok(store) = Store::open(dir.path(), &options()) {
            (0..600).try_for_each(|n| store.put(&key(n), &[1; 50])).unwrap();
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{name}");
    }
}

/// A file of somebody else's that has this name by chance was cut off, and removed by closing.
#[test]
fn a_reserve_with_content_is_somebody_elses() {
    let dir = TempDir::new().unwrap();
    let reserve = dir.path().join("RESERVE");
    // Its content begins behind zeros.
    let theirs = [vec![0; 10_000], b"seats: 12".to_vec()].concat();
    fs::write(&reserve, &theirs).unwrap();
    let refused = Store::open(dir.path(), &options()).err().expect("it is refused").to_string();
    assert!(refused.contains("'RESERVE'") && refused.contains("move it"), "{refused}");
    assert_eq!(fs::read(&reserve).unwrap(), theirs);
    fs::write(&reserve, [0; 10_000]).unwrap();
    let store = Store::open(dir.path(), &options()).unwrap();
    store.put(b"koel", b"1").unwrap();
}

/// `cp -r` makes no room for zeros, and opening took the length of the file for room.
#[test]
fn a_reserve_with_holes_gets_room_again() {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), &options()).unwrap();
    store.put(b"koel", b"1").unwrap();
    let reserve = dir.path().join("RESERVE");
    let blocks = || reserve.metadata().unwrap().blocks();
    let (length, full) = (reserve.metadata().unwrap().len(), blocks());
    store.close().unwrap();
    fs::File::create(&reserve).unwrap().set_len(length).unwrap();
    if full == 0 || blocks() > 0 {
        eprintln!("skipped: the file system does not tell of holes");
        return;
    }
    let _store = Store::open(dir.path(), &options()).unwrap();
    assert_eq!(blocks(), full);
}

/// A process that was forked dropped the store, and with that wrote into the log, gave back the
/// room behind what it took for the end, and replaced the checkpoint. With threads in the
/// background, it waited for them, and they do not exist there.
#[test]
fn a_forked_process_that_drops_a_store_changes_nothing() {
    for background in [false, true] {
        let dir = TempDir::new().unwrap();
        let store = Store::open(dir.path(), &options().background(background)).unwrap();
        let mut expected = Contents::new();
        fill(&store, &mut expected, 1);
        let (mut reads, mut writes) = pipe().unwrap();
        // SAFETY: the child calls nothing that another thread of the parent may have locked, but
        // the allocator, which glibc makes usable again.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // Until the parent has written more.
            let _ = reads.read(&mut [0]);
            drop(store);
            // SAFETY: ends the process, and nothing else.
            unsafe { libc::_exit(0) };
        }
        put_all(&store, &mut expected, 600..700, &[2; 50]);
        writes.write_all(b"!").unwrap();
        let mut status = 1;
        let ended = (0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            // SAFETY: writes the status of a child of this process.
            unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) == child }
        });
        if !ended {
            // SAFETY: it is a child of this process that was not waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        assert!(ended && status == 0, "it waits, or ended with {status}");
        assert_holds(&store, &expected);
        // As a crash would leave it.
        let left = TempDir::new().unwrap();
        each_file(dir.path(), left.path(), fs::copy);
        assert_holds(&Store::open(left.path(), &options()).unwrap(), &expected);
    }
}

/// A process that another thread starts has the locked files until its program runs.
#[test]
fn a_store_that_was_closed_opens_while_programs_are_started() {
    let dir = TempDir::new().unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                Command::new("true").status().unwrap();
            }
        });
        let opened = (0..1000).try_for_each(|_| Store::open(dir.path(), &options())?.close());
        stop.store(true, Relaxed);
        opened.unwrap();
    });
}
