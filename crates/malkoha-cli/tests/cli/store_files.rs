//! `malkoha store import` and what takes files out again: trees, names, links.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use malkoha_store::{Chunking, Digest, FileStore, Metadata, Options, Store};

use crate::harness::Dir;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Mode and time, to the nanosecond; those of a link itself.
fn described(path: &Path) -> (u32, i64, i64) {
    let metadata = fs::symlink_metadata(path).unwrap();
    (metadata.mode(), metadata.mtime(), metadata.mtime_nsec())
}

/// A store with files of these names, each with its name as content, as a program may have made it.
fn store_of(dir: &Dir, store: &str, names: &[impl AsRef<[u8]>]) {
    let store = Store::open(dir.path(store), &Options::new()).unwrap();
    let file_store = FileStore::new(&store);
    for name in names {
        let (chunking, digest) = (Chunking::default(), Digest::default());
        file_store.import(name, name.as_ref(), Metadata::default(), chunking, digest).unwrap();
    }
    store.close().unwrap();
}

fn listed(dir: &Dir, arguments: &str) -> Vec<String> {
    let run = dir.run(&format!("store ls {arguments}")).succeeds();
    let text = String::from_utf8(run.stdout).unwrap();
    text.lines().map(|line| line[78..].to_owned()).collect()
}

#[test]
fn trees_are_restored_as_they_were() {
    let dir = Dir::new();
    for name in ["t", "t/empty", "t/sub"] {
        fs::create_dir(dir.path(name)).unwrap();
    }
    dir.write("t/sub/program", "run\n");
    fs::write(dir.path("t").join(OsStr::from_bytes(b"\xff\n")), "no text").unwrap();
    symlink("sub/program", dir.path("t/link")).unwrap();
    symlink("nowhere", dir.path("t/dangling")).unwrap();
    symlink("..", dir.path("t/up")).unwrap();
    for (name, mode, time) in [
        ("t/sub/program", 0o751, UNIX_EPOCH + Duration::new(981_173_106, 789)),
        ("t/sub", 0o555, UNIX_EPOCH - Duration::from_millis(86_400_500)),
        ("t/empty", 0o700, UNIX_EPOCH),
    ] {
        let file = File::open(dir.path(name)).unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
        set_mode(&dir.path(name), mode);
    }
    let run = dir.run("store import --json s t").succeeds().json();
    let count = |name: &str| run[name].as_u64().unwrap();
    assert_eq!((count("files"), count("directories"), count("links")), (2, 3, 3));
    // The second time everything is there already.
    for _ in 0..2 {
        let run = dir.run("store export --json s --into out").succeeds().json();
        assert_eq!(
            (&run["files"], &run["directories"], &run["links"]),
            (&2.into(), &3.into(), &3.into())
        );
        for name in ["t", "t/empty", "t/sub", "t/sub/program"] {
            let out = dir.path("out").join(name);
            assert_eq!(described(&out), described(&dir.path(name)), "{name}");
        }
        for (name, target) in [("link", "sub/program"), ("dangling", "nowhere"), ("up", "..")] {
            let link = fs::read_link(dir.path("out/t").join(name)).unwrap();
            assert_eq!(link, Path::new(target));
        }
        assert_eq!(dir.read("out/t/sub/program"), b"run\n");
        let name = dir.path("out/t").join(OsStr::from_bytes(b"\xff\n"));
        assert_eq!(fs::read(name).unwrap(), b"no text");
        assert_eq!(fs::read_dir(dir.path("out/t")).unwrap().count(), 6);
    }
    let run = dir.run("store ls --json s").succeeds();
    let records = String::from_utf8(run.stdout).unwrap();
    assert!(records.contains(r#""kind":"link","mode":null,"modified":null,"name":"t/link""#));
    assert!(records.contains(r#""name_hex":"742fff0a""#), "{records}");
    assert!(records.contains(r#""mode":"0555","modified":-86400.5,"name":"t/sub""#), "{records}");
    // For the temporary directory's sake.
    for name in ["t/sub", "out/t/sub"] {
        set_mode(&dir.path(name), 0o755);
    }
}

/// Rights that come from the owner are not restored, as owners are not.
#[test]
fn nobody_gets_the_rights_of_who_restores() {
    let dir = Dir::with("program", "");
    set_mode(&dir.path("program"), 0o6755);
    dir.run("store import -q s program").prints("");
    assert_eq!(dir.run("store ls --json s").succeeds().json()["mode"], "6755");
    dir.run("store export s --into out").prints("");
    assert_eq!(described(&dir.path("out/program")).0 & 0o7777, 0o755);
}

/// Without a mode in the record, a file gets that of any new file.
#[test]
fn files_without_a_mode_get_the_usual_one() {
    let dir = Dir::with("usual", "");
    store_of(&dir, "s", &["file"]);
    dir.run("store export s --into out").prints("");
    assert_eq!(described(&dir.path("out/file")).0, described(&dir.path("usual")).0);
}

#[test]
fn what_is_no_file_is_skipped_and_told() {
    let dir = Dir::new();
    fs::create_dir(dir.path("t")).unwrap();
    let _socket = UnixListener::bind(dir.path("t/socket")).unwrap();
    dir.run("store import -q s t/..").succeeds();
    let run = dir.run("store import --json s .").succeeds();
    assert_eq!(
        run.stderr,
        "malkoha: './s' is skipped: it is the store itself\n\
         malkoha: './t/socket' is skipped: it is a socket, a pipe or a device\n"
    );
    assert_eq!((&run.json()["skipped"], &run.json()["failed"]), (&2.into(), &0.into()));
    assert_eq!(listed(&dir, "s"), ["t"]);
}

#[test]
fn what_cannot_be_opened_is_told_and_the_rest_is_stored() {
    let dir = Dir::new();
    fs::create_dir(dir.path("t")).unwrap();
    dir.write("t/1", "one");
    dir.write("t/2", "two");
    set_mode(&dir.path("t/1"), 0);
    if File::open(dir.path("t/1")).is_ok() {
        // Nothing is closed to the superuser.
        return;
    }
    let run = dir.run("store import -q s t");
    assert_eq!(
        (run.stderr.as_str(), run.code),
        (
            "malkoha: cannot open 't/1': Permission denied\n\
             malkoha: 1 could not be stored; the rest is\n",
            Some(2)
        )
    );
    assert_eq!(listed(&dir, "s"), ["t", "t/2"]);
}

#[test]
fn a_link_that_is_named_is_followed() {
    let dir = Dir::new();
    fs::create_dir(dir.path("t")).unwrap();
    dir.write("t/file", "x");
    symlink("t", dir.path("tree")).unwrap();
    symlink("t/file", dir.path("link")).unwrap();
    dir.run("store import -q s tree link").prints("");
    assert_eq!(listed(&dir, "s"), ["link", "tree", "tree/file"]);
    dir.run("store export s link").prints("x");
}

/// Only where lines end with newlines: the other lists are for programs.
#[test]
fn a_name_is_no_command_to_a_terminal() {
    let dir = Dir::new();
    store_of(&dir, "s", &["a\nb\x1b[2J\\", "b\tc\rd\x7f\0", "\u{9b}m", "\u{fc}"]);
    store_of(&dir, "s", &[b"\xff1\xc3"]);
    let shown =
        ["a\\nb\\033[2J\\\\", "b\\tc\\rd\\177\\000", "\\302\\233m", "\u{fc}", "\\3771\\303"];
    assert_eq!(listed(&dir, "s"), shown);
    let run = dir.run("store ls -0 s").succeeds();
    assert!(String::from_utf8_lossy(&run.stdout).contains(" a\nb\x1b[2J\\\0"));
    let run = dir.run("store ls --json s").succeeds();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains(r#""name":"a\nb\u001b[2J\\""#), "{text}");
}

/// A store may have other keys next to those of files.
#[test]
fn a_key_of_another_user_is_not_replaced() {
    let dir = Dir::with("koel", "content");
    dir.run("store put s fkoel value").prints("");
    let run = dir.run("store import s koel");
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("'koel' cannot be stored: the key 'fkoel' has a value"), "{run:?}");
    dir.run("store get s fkoel").prints("value");
    dir.run("store ls s").finds_nothing();
    dir.run("store del s fkoel").prints("");
    dir.run("store import -q s koel").prints("");
    dir.run("store export s koel").prints("content");
}

#[test]
fn a_name_has_many_spellings() {
    let dir = Dir::new();
    fs::create_dir_all(dir.path("a/b")).unwrap();
    dir.write("a/b/c", "x");
    for path in ["a", "./a", "a/", "a//b/", "./a/./b//c", "a/../a", "../a"] {
        // That one is from a neighbouring directory.
        let mut command = dir.command("store import --quiet");
        if path.starts_with("..") {
            command.current_dir(dir.path("a")).args(["../s", path]);
        } else {
            command.args(["s", path]);
        }
        assert!(command.status().unwrap().success());
        assert_eq!(listed(&dir, "s").last().unwrap(), "a/b/c", "{path}");
    }
    assert_eq!(listed(&dir, "s"), ["a", "a/b", "a/b/c"]);
    let path = dir.path("a/b/c");
    let (path, name) = (path.display(), path.display().to_string().split_off(1));
    let run = dir.run(&format!("store import absolute {path}")).succeeds();
    assert!(run.stderr.starts_with("malkoha: names in the store are without a leading '/'"));
    assert_eq!(listed(&dir, "absolute"), [name]);
    for spelling in ["a/b/c", "./a//b/c", "/a/b/c", "../a/b/c"] {
        dir.run(&format!("store export s {spelling}")).prints("x");
        dir.run(&format!("store ls -0 s {spelling}")).prints(
            "3ae7d805f6789a6402acb70ad4096a85a56bf6804eaf25c0493ac697548d30b5            1 a/b/c\0",
        );
    }
    dir.run(&format!("store export absolute {path}")).prints("x");
    dir.run("store rm s ./a/b//c").prints("");
    assert_eq!(listed(&dir, "s"), ["a", "a/b"]);
}

#[test]
fn two_files_do_not_get_one_name() {
    let dir = Dir::with("a", "1");
    fs::create_dir(dir.path("d")).unwrap();
    dir.write("d/a", "2");
    let mut command = dir.command("store import ../s a ../a");
    let run = command.current_dir(dir.path("d")).output().unwrap();
    assert_eq!(
        String::from_utf8(run.stderr).unwrap(),
        "malkoha: 'a' and '../a' would have the same name in the store, 'a': rename one of them, \
         or use two stores\n"
    );
    // One file twice is no such thing.
    dir.run("store import -q s a ./a d d/a").prints("");
    assert_eq!(listed(&dir, "s"), ["a", "d", "d/a"]);
    // Spellings may have come into a store otherwise.
    store_of(&dir, "old", &["./a", "a", "b//c", "../d"]);
    let run = dir.run("store export old --into first").succeeds();
    assert_eq!(
        run.stderr,
        "malkoha: 1 left out, as there is another file at its name without '.' or '..'\n"
    );
    assert_eq!(dir.read("first/a"), b"a");
    store_of(&dir, "two", &["./a", "x/../a"]);
    dir.run("store export two --into out")
        .complains("'./a' and 'x/../a' would be restored to the same place: name one of them");
    dir.run("store export old ./a").prints("./a");
    dir.run("store export old a").prints("a");
    dir.run("store export old b/c").prints("b//c");
    dir.run("store rm --json old ./a").prints("{\"removed\":1}\n");
    dir.run("store export old --into out").prints("");
    assert_eq!((dir.read("out/a"), dir.read("out/b/c")), (b"a".to_vec(), b"b//c".to_vec()));
    assert_eq!(dir.read("out/d"), b"../d");
}

#[test]
fn a_directory_is_all_below_it() {
    let dir = Dir::new();
    store_of(&dir, "s", &["a/b/1", "a/b/2", "a/b-", "a/c", "d"]);
    assert_eq!(listed(&dir, "s a/b"), ["a/b/1", "a/b/2"]);
    dir.run("store export s a/b d --into out").prints("");
    assert_eq!(dir.names(), ["out", "s"]);
    assert_eq!(fs::read_dir(dir.path("out/a")).unwrap().count(), 1);
    assert_eq!((dir.read("out/a/b/2"), dir.read("out/d")), (b"a/b/2".to_vec(), b"d".to_vec()));
    dir.run("store export s a/b")
        .complains("'a/b' is not one file: name a directory to restore into with --into");
    dir.run("store export s a/x --into x")
        .complains("store 's': there is no file 'a/x' in the store: 'ls' lists those that it has");
    dir.run("store rm s a/b/").prints("");
    assert_eq!(listed(&dir, "s"), ["a/b-", "a/c", "d"]);
    for all in [".", "/", "a/.."] {
        dir.run(&format!("store rm s {all}"))
            .complains(&format!("'{all}' would be all files: name those to forget"));
    }
    dir.run("store rm s a/b").finds_nothing();
    dir.run("store ls s a/b").finds_nothing();
    assert_eq!(dir.names(), ["out", "s"]);
}

/// No link in the way, whatever its origin, leads out of the directory.
#[test]
fn nothing_is_restored_through_a_link() {
    let dir = Dir::new();
    for name in ["outside", "out", "out/fine"] {
        fs::create_dir(dir.path(name)).unwrap();
    }
    dir.write("outside/file", "safe");
    let unharmed = || {
        assert_eq!(fs::read_dir(dir.path("outside")).unwrap().count(), 1);
        assert_eq!(dir.read("outside/file"), b"safe");
    };
    let refused = |run: crate::harness::Run, path: &str| {
        run.complains(&format!(
            "'{path}' is a link or a file, and nothing is restored through it: move it away, \
             forget it with 'rm' if it is from the store, or restore elsewhere"
        ));
        unharmed();
    };
    // One that is there already, as a parent and as the directory itself.
    store_of(&dir, "s", &["a/file", "a/deep/file"]);
    symlink("../outside", dir.path("out/a")).unwrap();
    refused(dir.run("store export s --into out"), "out/a");
    let store = Store::open(dir.path("d"), &Options::new()).unwrap();
    FileStore::new(&store).import_directory("a", Metadata::default()).unwrap();
    store.close().unwrap();
    refused(dir.run("store export d --into out"), "out/a");
    // One at the place of a file is replaced.
    store_of(&dir, "f", &["fine/file"]);
    symlink("../../outside/file", dir.path("out/fine/file")).unwrap();
    dir.run("store export f --into out").prints("");
    assert_eq!(dir.read("out/fine/file"), b"fine/file");
    assert!(fs::symlink_metadata(dir.path("out/fine/file")).unwrap().is_file());
    unharmed();
    // One that the store has itself.
    store_of(&dir, "l", &["x/file"]);
    let store = Store::open(dir.path("l"), &Options::new()).unwrap();
    FileStore::new(&store).import_link("x", b"../outside").unwrap();
    store.close().unwrap();
    refused(dir.run("store export l --into out"), "out/x");
    assert_eq!(fs::read_link(dir.path("out/x")).unwrap(), Path::new("../outside"));
    // Names that lead out of it are cut.
    store_of(&dir, "n", &["../outside/file", "a/../../outside/b", "/outside/c"]);
    dir.run("store export n --into in").prints("");
    let mut names: Vec<_> = fs::read_dir(dir.path("in/outside"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["b", "c", "file"]);
    unharmed();
    store_of(&dir, "p", &[".."]);
    dir.run("store export p --into in").complains(
        "'..' and the like are no names below a directory: export what has such a name to \
         standard output, and the others by their names",
    );
    dir.run("store export p ..").prints("..");
    // The directory itself can be a link: it was named.
    symlink("fine", dir.path("out/named")).unwrap();
    dir.run("store export s a/file --into out/named").prints("");
    assert_eq!(dir.read("out/fine/a/file"), b"a/file");
}

/// A file that cannot be restored leaves the existing one unchanged, and nothing of its own.
#[test]
fn a_broken_file_replaces_nothing() {
    let dir = Dir::new();
    store_of(&dir, "s", &["file"]);
    let store = Store::open(dir.path("s"), &Options::new()).unwrap();
    let chunk = store.snapshot().iter().find_map(|entry| {
        let key = entry.unwrap().key.to_vec();
        key.starts_with(b"c").then_some(key)
    });
    store.delete(&chunk.unwrap()).unwrap();
    store.close().unwrap();
    fs::create_dir(dir.path("out")).unwrap();
    dir.write("out/file", "old");
    dir.run("store export s --into out")
        .complains("store 's': 'file' cannot be restored: a chunk is missing");
    assert_eq!(dir.read("out/file"), b"old");
    assert_eq!(fs::read_dir(dir.path("out")).unwrap().count(), 1);
}
