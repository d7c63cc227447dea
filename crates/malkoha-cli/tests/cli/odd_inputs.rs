//! Unusual inputs and outputs, and what the user then sees.

use crate::harness::Dir;

/// Text, and the same compressed by whichever programs there are.
fn compressed() -> (Dir, Vec<&'static str>) {
    let dir = Dir::new();
    dir.shell("seq 1 50000 > plain; gzip -k plain; gzip -c plain | gzip > twice.gz").prints("");
    dir.shell("(head -100 plain | gzip; tail -n +101 plain | gzip) > parts.gz").prints("");
    dir.shell("(cat plain.gz; head -c 40000 /dev/zero) > padded.gz").prints("");
    let mut files = vec!["plain.gz", "parts.gz", "padded.gz"];
    if dir.shell("zstd -q -k plain && (zstd -c plain; seq 2 60000 | zstd -c) > parts.zst").code
        == Some(0)
    {
        files.push("plain.zst");
    }
    if dir.shell("xz -k plain").code == Some(0) {
        files.push("plain.xz");
    }
    (dir, files)
}

#[test]
fn compressed_lists_and_inputs_are_read_as_their_lines() {
    let (dir, files) = compressed();
    dir.write("few", "7\nx\n49999\n");
    for file in files {
        dir.run(&format!("screen --list {file} few")).prints("7\n49999\n");
        dir.run(&format!("screen --list few {file}")).prints("7\n49999\n");
        dir.run(&format!("uniq {file} plain")).prints(dir.read("plain"));
        dir.shell(&format!("malkoha uniq < {file}")).prints(dir.read("plain"));
        dir.run(&format!("build -q -o f.mlk {file}")).prints("");
        dir.run("build -q -o g.mlk plain").prints("");
        assert!(dir.read("f.mlk") == dir.read("g.mlk"), "{file}");
    }
}

#[test]
fn damaged_and_double_compression_is_told() {
    let (dir, files) = compressed();
    let twice = "it is compressed twice: decompress it once first";
    dir.run("uniq twice.gz").complains(&format!("cannot read 'twice.gz': {twice}"));
    dir.run("screen --list twice.gz plain")
        .complains(&format!("cannot open list 'twice.gz': {twice}"));
    for file in files {
        let bytes = dir.read(file);
        dir.write("cut", &bytes[..bytes.len() / 3]);
        let run = dir.run("uniq -q cut");
        assert_eq!(run.code, Some(2), "{file}");
        assert_eq!(run.stderr, "malkoha: cannot read 'cut': it ends too early\n", "{file}");
        let run = dir.run("screen --list cut plain");
        assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{file}");
        let mut bytes = dir.read(file);
        let middle = bytes.len() / 3;
        bytes[middle] ^= 0x55;
        dir.write("bad", &bytes);
        assert_eq!(dir.run("screen --list bad plain").code, Some(2), "{file}");
    }
}

/// Whole chunks of 64 KiB can be read.
#[test]
fn what_comes_before_a_cut_is_read() {
    let (dir, files) = compressed();
    dir.shell("seq 1 400000 > plain; rm -f plain.xz; xz -k plain; true").prints("");
    let of_xz = files.last().filter(|&&last| last == "plain.xz");
    for file in ["plain.gz"].iter().chain(of_xz) {
        let bytes = dir.read(file);
        dir.write("cut", &bytes[..bytes.len() / 4 * 3]);
        let run = dir.run("uniq cut");
        assert!((run.code, run.stdout.len() > 10_000) == (Some(2), true), "{file}");
        assert!(run.stdout.ends_with(b"\n") && dir.read("plain").starts_with(&run.stdout));
    }
}

#[test]
fn what_has_no_lines_is_refused() {
    let dir = Dir::with("lines", "a\n").and("zip", "PK\x03\x04...");
    dir.run("build -q -o f.mlk lines").prints("");
    let why = "it is a filter file, which has no lines: see 'malkoha check --help'";
    for option in ["", "-v", "-c", "--approximate"] {
        dir.run(&format!("screen {option} --list f.mlk lines"))
            .complains(&format!("cannot open list 'f.mlk': {why}"));
    }
    dir.run("uniq f.mlk").complains(&format!("cannot read 'f.mlk': {why}"));
    dir.run("check f.mlk zip").complains(
        "cannot read 'zip': it is a zip archive or a workbook: unpack it, or save it as CSV, first",
    );
    for (start, what) in [
        ("\x5d\0\0\u{1}\0", "compressed by lzma"),
        ("LZIP\u{1}", "compressed by lzip"),
        ("ARROW1\0\0", "Arrow"),
        ("Obj\u{1}", "Avro"),
        ("BAM\u{1}", "BAM"),
        ("SQLite format 3\0", "an SQLite database"),
    ] {
        let run = dir.pipe(start, "uniq");
        assert!(run.code == Some(2) && run.stderr.contains(&format!(": it is {what}")), "{run:?}");
    }
    let dbf = "\u{3}\u{7e}\u{b}\u{1d}\u{1}\0\0\0A\0\u{2}\0\0\0\0\0\n";
    for (start, what) in [("ORC\n\u{6}\0\n", "ORC"), (dbf, "a table of dBASE")] {
        dir.write("table", start);
        let run = dir.run("screen -f table lines");
        let expected = format!("malkoha: 'table' seems to be {what}");
        assert!(run.code == Some(2) && run.stderr.starts_with(&expected), "{run:?}");
        let run = dir.run("uniq table");
        assert!(run.stderr.starts_with(&expected), "{run:?}");
    }
    let run = dir.run("check f.mlk zip lines");
    assert_eq!((run.code, run.stdout.as_slice()), (Some(2), &b"a\n"[..]));
}

/// Each line that is printed would be read as one more.
#[test]
fn output_that_is_the_input_is_refused() {
    let dir = Dir::with("list", "a\nb\n").and("io", "a\nb\n");
    let why = "malkoha: 'io' is both input and output: write to another file\n";
    dir.run("build -q -o f.mlk list").prints("");
    for command in
        ["screen --list list io", "uniq io", "check f.mlk io", "count f.mlk io", "new -q f.mlk io"]
    {
        let run = dir.shell(&format!("malkoha {command} >> io"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(2), why), "{command}");
        assert_eq!(dir.read("io"), b"a\nb\n");
    }
    let run = dir.shell("malkoha uniq < io >> io");
    assert!(run.stderr.contains("standard input is both input and output"), "{}", run.stderr);
    dir.shell("malkoha uniq < /dev/null > /dev/null").finds_nothing();
}

/// A build is of all its inputs or fails; commands that print continue.
#[test]
fn unreadable_inputs_are_told_and_passed_over() {
    let dir = Dir::with("a", "x\n").and("b", "y\n");
    dir.shell("mkdir sub").prints("");
    let expected = "malkoha: cannot open 'none': No such file or directory\n\
                malkoha: cannot read 'sub': it is a directory, and lines come from files\n";
    dir.run("build -q -o f.mlk a b").prints("");
    for command in ["screen --list b", "uniq", "check f.mlk", "new -q g.mlk"] {
        let run = dir.run(&format!("{command} none sub a b"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(2), expected), "{command}");
        assert!(run.stdout.ends_with(b"y\n"), "{command}");
    }
    for command in ["build -o h.mlk", "add f.mlk", "remove f.mlk"] {
        let run = dir.run(&format!("{command} a none b"));
        assert_eq!((run.code, run.stderr.lines().count()), (Some(2), 1), "{command}");
    }
    assert_eq!(dir.names(), ["a", "b", "f.mlk", "g.mlk", "sub"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_output_is_an_error() {
    let dir = Dir::with("a", "x\n");
    dir.run("build -q -o f.mlk a").prints("");
    for command in
        ["screen --list a a", "uniq a", "check f.mlk a", "info f.mlk", "plan --keys 10", "man"]
    {
        dir.shell(&format!("malkoha {command} >&-"))
            .complains("cannot write to standard output: it is closed");
    }
    dir.shell("malkoha build -q -o f.mlk a >&-").prints("");
    dir.shell("malkoha uniq a > /dev/null").prints("");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_followed() {
    let dir = Dir::with("a", "x\n");
    dir.shell("mkdir sub; ln -s sub/f.mlk one; ln -s ../one sub/two; ln -s loop loop").prints("");
    dir.run("build -q -o sub/two a").prints("");
    assert!(dir.path("one").is_symlink() && dir.path("sub/two").is_symlink());
    dir.run("check sub/f.mlk a").prints("x\n");
    assert_eq!(dir.run("build -q -o loop a").code, Some(2));
}

/// Killed while it writes, at many moments: it leaves no file that is not complete, and at most one
/// by a moment between the two calls by which a file replaces another one.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_orphans() {
    let dir = Dir::new();
    dir.shell("seq 1 300000 > lines; malkoha build -q --fpr 1e-8 -o f.mlk lines").prints("");
    for delay in 1..40 {
        dir.shell(&format!(
            "malkoha build -q --fpr 1e-8 -o f.mlk lines & sleep 0.0{delay:02}; kill $!; \
             wait $! || true"
        ));
    }
    let names = dir.names();
    assert!(names.ends_with(&["f.mlk".into(), "lines".into()]) && names.len() <= 3, "{names:?}");
    for name in &names[..names.len() - 1] {
        dir.run(&format!("verify {name}")).prints(format!("{name}: ok\n"));
    }
}

#[test]
fn odd_bytes_are_bytes() {
    // About as long as a block, and as several.
    let long = [(1 << 18) - 1, 1 << 18, (1 << 18) + 1, 5 << 20].map(|n| "z".repeat(n)).join("\n");
    let odd = [&b"a\0b\n\0\ncr\r\n\r\n\xff\xfe\n\n"[..], long.as_bytes(), b"\nlast"].concat();
    let dir = Dir::with("odd", &odd).and("list", &odd);
    let all = [&odd[..], b"\n"].concat();
    dir.run("screen --list list odd").prints(&all);
    dir.run("uniq odd list").prints(&all);
    dir.shell("cat odd | malkoha screen --list <(cat list)").prints(&all);
    dir.run("new -q f.mlk odd").prints(&all);
    dir.run("check f.mlk odd").prints(&all);
    dir.shell("mkfifo pipe; cat odd > pipe & malkoha uniq pipe").prints(&all);
}
