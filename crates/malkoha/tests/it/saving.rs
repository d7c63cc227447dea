//! Files that are saved while others write to the same path, or to the last byte of a disk.
#![cfg(not(target_family = "wasm"))]

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use malkoha::{ConcurrentCuckooFilter, CuckooFilter};

/// Two threads that save to one path once shared a temporary file: the renamed file was half of
/// each.
#[test]
fn two_threads_save_to_one_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.mlk");
    let seen = ConcurrentCuckooFilter::with_capacity(20_000, 0.001).unwrap();
    seen.insert_many(&(0..10_000_u64).collect::<Vec<_>>()).unwrap();
    seen.save(&path).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let savers = [0, 1].map(|_| scope.spawn(|| (0..50).try_for_each(|_| seen.save(&path))));
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert_eq!(
                    CuckooFilter::open(&path).map_err(|error| error.to_string())?.len(),
                    10_000
                );
            }
            Ok::<(), String>(())
        });
        let saved = savers.map(|saver| saver.join().unwrap());
        done.store(true, Ordering::Relaxed);
        assert_eq!(reader.join().unwrap(), Ok(()));
        saved.into_iter().for_each(|saved| saved.unwrap());
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The name of the temporary file was longer than the path's, and some systems allow 255 bytes.
#[test]
fn a_name_may_be_as_long_as_the_system_allows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n".repeat(255));
    if fs::write(&path, "").is_err() {
        return;
    }
    let filter = CuckooFilter::try_from_iter(["cuckoo"], 0.01).unwrap();
    filter.save(&path).unwrap();
    assert!(CuckooFilter::open(&path).unwrap() == filter);
}

/// Files that somebody else left, or placed there as a trap, stay unchanged.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_beside_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("seen.mlk"), folder.path().join("other"));
    fs::write(&other, "precious").unwrap();
    for number in 0..200 {
        let name = format!(".malkoha.{}.{number}", std::process::id());
        std::os::unix::fs::symlink(&other, folder.path().join(name)).unwrap();
    }
    let name = format!(".seen.mlk.{}", std::process::id());
    std::os::unix::fs::symlink(&other, folder.path().join(name)).unwrap();
    let filter = CuckooFilter::try_from_iter(["cuckoo"], 0.01).unwrap();
    filter.save(&path).unwrap();
    assert!(CuckooFilter::open(&path).unwrap() == filter);
    assert_eq!(fs::read(&other).unwrap(), b"precious");
}

/// Pipes and devices were replaced by files: `/dev/null`, if root saved to it.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_written_to_and_stays() {
    use std::os::unix::fs::FileTypeExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let filter = CuckooFilter::try_from_iter(["cuckoo"], 0.01).unwrap();
    let read = thread::scope(|scope| {
        let reader = scope.spawn(|| fs::read(&path).unwrap());
        // A replaced pipe would leave the reader waiting for ever.
        let saved = filter.save(&path);
        let is_pipe = fs::metadata(&path).unwrap().file_type().is_fifo();
        drop(fs::OpenOptions::new().read(true).write(true).open(&path));
        saved.unwrap();
        assert!(is_pipe);
        reader.join().unwrap()
    });
    assert_eq!(read, filter.to_bytes());
    if fs::metadata("/dev/full").is_ok_and(|full| full.file_type().is_char_device()) {
        filter.save("/dev/full").unwrap_err();
        assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
    }
}

/// A disk that is full: the old file stays, and nothing else.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_old_file() {
    const PATH: &str = "MALKOHA_SAVES_TO";
    let large = || CuckooFilter::with_capacity(1_000_000, 0.01).unwrap();
    if let Some(path) = std::env::var_os(PATH) {
        let error = large().save(path).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge, "{error}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.mlk");
    let small = CuckooFilter::try_from_iter(["cuckoo"], 0.01).unwrap();
    small.save(&path).unwrap();
    // Files of 64 KiB at most; the signal that comes with more is ignored.
    let limited = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 128; exec \"$0\" --exact saving::a_full_disk_leaves_the_old_file",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(PATH, &path)
        .output()
        .unwrap();
    assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stdout));
    assert!(CuckooFilter::open(&path).unwrap() == small);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
