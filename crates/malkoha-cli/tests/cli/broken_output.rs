//! Output that cannot be written: quiet when the reader has gone, otherwise an error, and never a
//! part of a file.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::harness::Dir;

fn many_lines() -> String {
    (0..300_000).map(|n| format!("{n}\n")).collect()
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let dir = Dir::with("lines", many_lines());
    dir.run("build -q -o f.mlk lines").prints("");
    for command in
        ["screen --list lines lines", "uniq lines", "check f.mlk lines", "count f.mlk lines"]
    {
        let mut command = dir.command(command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(first.ends_with("0\n"), "{first}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let dir = Dir::with("lines", "a\n");
    dir.run("build -q -o f.mlk lines").prints("");
    let full = "cannot write to standard output: No space left on device";
    for command in [
        "screen --list lines lines",
        "screen -c --list lines lines",
        "uniq lines",
        "check f.mlk lines",
        "count f.mlk lines",
        "info f.mlk",
        "verify f.mlk",
        "plan --keys 10",
        "completions bash",
        "man",
        "build -q -o - lines",
        "--help",
    ] {
        dir.shell(&format!("malkoha {command} > /dev/full")).complains(full);
    }
    dir.run("build -q -o /dev/full lines")
        .complains("cannot write '/dev/full': No space left on device");
}

/// A file size limit stands for a disk that becomes full while the file is written.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_whole_is_not_there_at_all() {
    let dir = Dir::with("lines", many_lines()).and("old", "a\n");
    let limited = "trap '' XFSZ; ulimit -f 8; malkoha";
    let run = dir.shell(&format!("{limited} build -o f.mlk lines"));
    run.complains("cannot write 'f.mlk': File too large");
    assert_eq!(dir.names(), ["lines", "old"]);

    dir.run("build -q --capacity 1M -o f.mlk old").prints("");
    let before = dir.read("f.mlk");
    for command in ["build -o f.mlk lines", "add f.mlk lines", "remove f.mlk old"] {
        let run = dir.shell(&format!("{limited} {command}"));
        let which = match &command[..3] {
            "bui" => "",
            "add" => "cannot add to 'f.mlk', which is unchanged: ",
            _ => "cannot remove from 'f.mlk', which is unchanged: ",
        };
        run.complains(&format!("{which}cannot write 'f.mlk': File too large"));
        assert!(before == dir.read("f.mlk"), "{command}");
        assert_eq!(dir.names(), ["f.mlk", "lines", "old"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn messages_that_nobody_can_read_are_no_panic() {
    let dir = Dir::with("lines", "a\n");
    dir.shell("malkoha build -o f.mlk lines 2> /dev/full").prints("");
    assert_eq!(dir.shell("malkoha check none 2> /dev/full").code, Some(2));
    assert_eq!(dir.shell("malkoha --nothing 2> /dev/full").code, Some(2));
}

#[test]
fn files_that_are_no_filters_are_not_overwritten() {
    let dir = Dir::with("lines", "a\n").and("precious", "text\n").and("empty", "");
    dir.run("build -o precious lines").complains(
        "'precious' exists and is not a filter: name another file, or overwrite it with --force",
    );
    dir.run("build -o lines lines")
        .complains("'lines' is both input and output: name another output file");
    assert_eq!(dir.read("precious"), b"text\n");
    dir.run("build -q -o empty lines").prints("");
    dir.run("build -q --force -o precious lines").prints("");
    dir.run("build -q -o precious lines").prints("");
    dir.run("check precious lines").prints("a\n");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_survive() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let dir = Dir::with("lines", "a\n");
    dir.shell("umask 027; malkoha build -q -o f.mlk --capacity 10 lines").prints("");
    let mode = || dir.path("f.mlk").metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o640);
    dir.shell("chmod 604 f.mlk").prints("");
    symlink("f.mlk", dir.path("link")).unwrap();
    dir.pipe("b\n", "add -q link").prints("");
    assert!(dir.path("link").is_symlink());
    assert_eq!(mode(), 0o604);
    dir.pipe("a\nb\n", "check f.mlk").prints("a\nb\n");
}

/// Root gives the file away first, and then lacks the right to write to files of others.
#[cfg(target_os = "linux")]
#[test]
fn owners_survive_and_so_does_what_may_not_be_written_to() {
    let dir = Dir::with("lines", "a\n");
    dir.shell(
        "malkoha build -q -o f.mlk lines; if [ $(id -u) = 0 ]; then chown 65534:4 f.mlk; fi
         stat -c %u:%g f.mlk > was; echo b | malkoha add -q f.mlk; stat -c %u:%g f.mlk | cmp was",
    )
    .prints("");
    let run = dir.shell(
        "chmod 444 f.mlk; if [ $(id -u) = 0 ]; then as='setpriv --bounding-set=-dac_override'; fi
         echo c | $as malkoha add f.mlk",
    );
    run.complains(
        "cannot add to 'f.mlk', which is unchanged: cannot write 'f.mlk': Permission denied",
    );
    assert_eq!(dir.names(), ["f.mlk", "lines", "was"]);
}
