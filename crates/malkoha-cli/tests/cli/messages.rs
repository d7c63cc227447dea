//! What is said when records are not equal, and when no memory is left.

use crate::harness::Dir;

/// The limit stands for a machine with less memory.
#[cfg(target_os = "linux")]
#[test]
fn a_table_that_no_memory_holds() {
    let dir = Dir::with("a", "x\n");
    for kind in ["--fixed", ""] {
        let build = format!("malkoha build {kind} --capacity 60G -o f a");
        let run = dir.shell(&format!("ulimit -v 4000000 && {build}"));
        assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{run:?}");
        let remedy = "bytes does not fit in memory: ask for fewer keys or a higher fpr\n";
        assert!(run.stderr.starts_with("malkoha: a table of "), "{}", run.stderr);
        assert!(run.stderr.ends_with(remedy) && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
    assert_eq!(dir.names(), ["a"]);
}

/// The SHA-1 of `a`.
const A_DIGEST: &str = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8\n";

/// Lists of which nothing is equal to the input, by the form of one of both.
#[test]
fn sides_that_differ_in_form() {
    let dir = Dir::new();
    for (list, input, options, said) in [
        ("a\r\nb\r\n", "a\nb\n", "", "records of 'list' end with CR, unlike those of 'input'"),
        ("a\nb\n", "a\r\nb\r\n", "", "records of 'input' end with CR"),
        (A_DIGEST, "a\r\nb\r\n", "--digest sha1", "'input' end with CR"),
        ("a \nb \n", "a\nb\n", "", "'list' begin or end with blanks"),
        ("{\"a\":\"x\"}\n", "x\n", "", "'list' are JSON objects"),
        ("\"x\"\n", "x,1\n", "-k 1 -t ,", "'list' are in quotes"),
        ("a@b.c\n", "A <a@b.c>\n", "", "'input' have an address in <>"),
        ("a@b.c\n", "a\nA <a@b.c>\nd@e.f\n", "", "'input' have an address in <>"),
        ("a@b.c, d@e.f\n", "a@b.c\n", "", "'list' have several addresses"),
        ("ANN@X.EXAMPLE\n", "ann@x.example\n", "", "'input' and 'list' differ in case"),
        ("'Ann',\n", "Bob\nann\n", "", "'ann' in 'list' and 'input' differs in case"),
        ("“ann”\nx\n", "ann\n", "", "'list' have signs around them"),
        ("- ann\n- bob\n", "bob\n", "", "'list' have signs around them"),
        ("ann\u{a0}\n", "ann\n", "", "'list' begin or end with blanks"),
        (
            "A99F0000A99F0000A99F0000A99F0000\n",
            "a99f0000a99f0000a99f0000a99f0000\n",
            "",
            "--ignore-case",
        ),
        ("x,1\ny,2\n", "x\ny\n", "", "'list' have commas"),
        ("a.txt\nb.txt\nc.txt\n", "a\nb\n", "", "'list' end with '.txt'"),
        ("1.0\n2.0\n3.5\n", "1\n2\n300\n", "", "'list' are whole numbers with points"),
        ("sha256:ab\nsha256:cd\n", "ab\ncd\n", "", "'list' have colons"),
        ("nr-ab\nnr-cd\n", "ab\ncd\n", "", "'list' begin with 'nr-'"),
        ("www.a.example\nwww.b.example\n", "b.example\na.example\n", "", "begin with 'www.'"),
        ("http://a/\nhttp://b/\n", "https://b/\n", "", "'list' begin with 'http:'"),
        ("8\n", "008\n010\n", "", "'input' begin with zeros"),
        ("a/b\n", "a\\b\n", "", "'input' have backslashes"),
        ("a%20b\n%41\n", "a b\n", "", "'list' have signs written as '%'"),
        ("a b\n", "a\u{a0}b\n", "", "'input' have blanks that do not break"),
        ("\u{e9}\n", "e\u{301}\n", "", "'input' have accents apart"),
        ("00:1a:22:33:44:55\n", "00-1a-22-33-44-55\n", "", "have ':' between hex digits"),
        ("ann # by phone\nbob # moved\n", "ann\nbob\n", "", "'list' have comments"),
        ("a\rb\rc", "a\n", "", "'list' seems to have lines that end with CR"),
        (
            &*format!("{:\0<257}ustar\0\n", "list.txt"),
            "a\n",
            "",
            "'list' seems to be a tar archive",
        ),
        ("a\n", "a\rb\rc", "", "'input' seems to have lines that end with CR"),
        ("a\0b\0", "a\n", "", "'list' seems to have records that end with NUL"),
        ("a\nb\n", "a\0", "-0", "'list' seems to have lines"),
        ("a\0b\0\n\0", "a\n", "", "'list' seems to be UTF-16 without its mark"),
        ("<!doctype HTML>\n", "a\n", "", "'list' seems to be a web page"),
        ("a\n", "a;b\nc;d\n", "--csv -k 1", "'input' seems to have fields between ';'"),
        ("a\n", "a b\nc d\n", "-k 1", "'input' seems to have fields between ' '"),
        ("a\n", "\"a\",b\n", "-k 1 -t ,", "'input' seems to be CSV"),
    ] {
        dir.write("list", list);
        dir.write("input", input);
        let are_lines = matches!(options, "" | "-0");
        let commands = ["screen -f list input", "diff input list"];
        for command in &commands[..1 + usize::from(are_lines)] {
            let run = dir.run(&format!("{command} {options}"));
            assert!(run.stderr.contains(said), "{command} {options}: {list:?} {input:?}: {run:?}");
            assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
            // A list without its records would let everything pass.
            assert_eq!(run.code == Some(2), said.starts_with("'list' seems"), "{run:?}");
        }
        if !are_lines {
            continue;
        }
        // Where something is equal, the sides need not look the same.
        dir.write("list", format!("{list}\n{input}").replace('\0', ""));
        dir.write("input", input.replace('\0', ""));
        let run = dir.run("screen -f list input");
        assert!(!run.stderr.contains("nothing is equal"), "{list:?} {input:?}: {run:?}");
    }
}

/// Some records are equal, and the form of most others keeps them from being so.
#[test]
fn some_records_that_differ_in_form() {
    let dir = Dir::new();
    let line = |n: u32, with: &str| format!("u{n}@x{}\n", with.replace('N', &n.to_string()));
    let list = |with: &str| (2..40).map(|n| line(n, with)).collect::<String>();
    dir.write("input", "email\n\nu1@x\n".to_owned() + &list(""));
    for (with, what) in [
        ("\r", "end with CR"),
        (" ", "begin or end with blanks"),
        ("/1", "end with '/1'"),
        (",N", "have commas"),
        ("\tN", "have tabs"),
        (" # N", "have comments"),
        (".", "end with '.'"),
    ] {
        dir.write("list", "email\n\nu1@x\n".to_owned() + &list(with));
        for command in ["screen -v -f list input", "diff input list", "intersect input list"] {
            let run = dir.run(command);
            let expected = format!(
                "malkoha: some records are equal, but other records of 'list' {what}, unlike \
                 those of 'input'"
            );
            assert!(run.stderr.starts_with(&expected), "{command} {with:?}: {run:?}");
        }
    }
    // Few of a list, or some that are equal, have the same look; or it proves nothing.
    for more in ["u1@x\r\n", "a,b\n", "http://u1@x\nA\n"] {
        dir.write("list", "u1@x\n".to_owned() + &list("").replace('u', "v") + more);
        dir.run("screen -c -f list input").prints("1\n");
    }
    dir.write("input", "A,1\nB,1\nC\n");
    dir.write("list", "a,1\nA,1\nD,1\n");
    dir.run("screen -f list input").prints("A,1\n");
    // Latin letters of one byte.
    dir.write("list", b"a\nk\xf6ln\nm\xfcll\n");
    dir.write("input", "a\nk\u{f6}ln\nm\u{fc}ll\n");
    let run = dir.run("screen -f list input");
    assert!(run.stderr.contains("records of 'list' are no UTF-8"), "{run:?}");
}

/// Ordinary lists of which nothing is equal, and lines that begin as files of other formats do.
#[test]
fn ordinary_lists_look_like_nothing_else() {
    let dir = Dir::new();
    let long = "x".repeat(5000);
    for (list, input, options) in [
        ("red;1\ngreen\nblue\n", "ruby\npine\nse;a\n", ""),
        ("ruby\npine\nse\ta\n", "red:1\ngreen\nblue\n", ""),
        ("ruby\npine\n\"sea\"\n", "red\ngreen\n blue\n", ""),
        ("a;b\n", "red\ngreen\nblue\n", ""),
        ("a\rb", "red\ngreen\nblue\n", ""),
        ("red\ngreen\nblue\n", &*format!("{{\"a\":\"{long}\"}}\n"), ""),
        (&format!("{{\"a\":\"{long}\"}}\n"), "{\"b\":1}\n", ""),
        ("@ann\nbob\n+49\neva\n", "carl\n", ""),
        (&format!("{long}\n\0"), "x\0", "-0"),
        ("BZh9 is mine\n%PDF-reader\n", "red\n", ""),
        ("red\n", "%PDF-reader\nBZh9 is mine\n", ""),
        (A_DIGEST, "5f4dcc3b5aa765d61d8327deb882cf99a0a0a0a0\nb\n", "--digest sha1"),
    ] {
        dir.write("list", list);
        dir.write("input", input);
        dir.run(&format!("screen -f list input {options}")).finds_nothing();
    }
    dir.write("list", "a\0");
    dir.write("input", "a\r\nb\r\n");
    let run = dir.run("screen -0 -f list input");
    assert!(run.stderr.contains("leave --null (-0) away"), "{run:?}");
}
