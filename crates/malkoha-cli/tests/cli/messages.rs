//! Errors are one line, with exit code 2 and without output.

use crate::harness::Dir;

#[test]
fn files_that_are_not_there() {
    let dir = Dir::with("a", "x\n");
    dir.run("screen --list none a").complains("cannot open list 'none': No such file or directory");
    dir.run("screen --list a none").complains("cannot open 'none': No such file or directory");
    dir.run("check none a").complains("cannot open filter 'none': No such file or directory");
    dir.run("add none a").complains("cannot open filter 'none': No such file or directory");
    dir.run("check - a").complains(
        "cannot open filter standard input: '-' is for lines: name the file of the filter",
    );
    dir.run("info none").complains("cannot open filter 'none': No such file or directory");
    dir.run("uniq a/b").complains("cannot open 'a/b': Not a directory");
    dir.run("build -o no/f.mlk a").complains("cannot write 'no/f.mlk': No such file or directory");
}

#[test]
fn directories_instead_of_files() {
    let dir = Dir::with("a", "x\n");
    dir.run("uniq .").complains("cannot read '.': it is a directory, and lines come from files");
    dir.run("screen --list . a").complains("cannot open list '.': it is a directory");
    dir.run("build -o . a").complains("cannot write '.': it is a directory");
}

#[test]
fn files_that_are_no_filters() {
    let text = "just some lines\n".repeat(100);
    let dir = Dir::with("text", text).and("empty", "").and("short", "x");
    for file in ["text", "short"] {
        for command in ["info", "verify", "check", "count", "add", "remove"] {
            let run = dir.run(&format!("{command} {file}"));
            assert_eq!(run.code, Some(2));
            assert!(
                run.stderr.starts_with(&format!("malkoha: '{file}' is not a filter file: ")),
                "{}",
                run.stderr
            );
            assert_eq!(run.stderr.lines().count(), 1);
        }
    }
    assert_eq!(dir.run("check empty").code, Some(2));
}

#[test]
fn a_version_of_the_future() {
    let dir = Dir::with("lines", "a\n");
    dir.run("build -q -o f.mlk lines").prints("");
    let mut bytes = dir.read("f.mlk");
    bytes[8] = 9;
    dir.write("f.mlk", bytes);
    dir.run("check f.mlk lines").complains(
        "cannot open filter 'f.mlk': format version 9 is not supported, only version 1: \
         use a newer malkoha",
    );
}

/// Each of these, without the option, says what it did.
#[test]
fn all_commands_can_be_quiet() {
    let dir = Dir::with("a", "x\n").and("b", "y\n");
    for command in [
        "build -o f.mlk a",
        "add f.mlk b",
        "remove f.mlk b",
        "union -o g.mlk f.mlk f.mlk",
        "index a",
        "store import s a",
        "store gc s",
        "store compact s",
        "store verify s",
        "store repair s",
    ] {
        let runs =
            [String::new(), " -q".to_owned()].map(|option| dir.run(&format!("{command}{option}")));
        assert!(!runs[0].stderr.is_empty(), "{command}");
        assert!(runs[1].stderr.is_empty(), "{command}: {}", runs[1].stderr);
    }
    dir.pipe("k\tv\n", "store load -q s").prints("");
    dir.run("-q new n.mlk a").prints("x\n");
}

#[test]
fn options_that_do_not_exist_or_do_not_fit() {
    let dir = Dir::with("a", "x\n");
    dir.run("screen --lits a").complains(
        "unexpected argument '--lits' found; tip: a similar argument exists: '--list' \
         (see malkoha --help)",
    );
    dir.run("screen a").complains(
        "the following required arguments were not provided: --list <LIST> (see malkoha --help)",
    );
    dir.run("plan --keys many").complains(
        "invalid value 'many' for '--keys <N>': write it as 10000000, 10_000_000, 10M or 1e7 \
         (see malkoha --help)",
    );
    for command in [
        "nothing",
        "check --json f a",
        "screen --fpr 0.1 --list a a",
        "build -o f --fpr 0.1 --fingerprint-bits 8 a",
        "build -o f --seed 1 --random-seed a",
        "build -o f --like g --random-seed a",
        "build -o f --growable --layout bucketed a",
        "build -o f --fixed --growth 10 a",
        "build -o f --fpr x a",
        "add --unique f a",
        "uniq -c -d a",
        "uniq -c --approximate a",
        "uniq --fpr 0.1 a",
        "completions tcl",
    ] {
        let run = dir.run(command);
        assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{command}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn values_out_of_range() {
    let dir = Dir::with("a", "x\ny\n");
    let range = "false-positive rate 2 is out of range: ask for one above 0 and below 1";
    dir.run("build -o f --fpr 2 a").complains(range);
    dir.run("plan --keys 10 --fpr 2").complains(range);
    dir.run("uniq --approximate --fpr 2 a").complains(range);
    dir.run("build -o f --fingerprint-bits 99 a")
        .complains("fingerprints of 99 bits are not supported: choose 4 to 32");
    dir.run("build -o f --growth 0 a")
        .complains("growth by a factor of 0 is out of range: ask for 1 to 1000000000");
    dir.run("build -o f --capacity 1M --growth 1e9 a")
        .complains("growth by a factor of 1000000000 is out of range: ask for 1 to 56808100");
    dir.run("build -o f --bucket-size 3 a")
        .complains("buckets of 3 slots are not supported: choose 1, 2, 4 or 8");
    dir.run("build -o f --fixed --capacity 1 a")
        .complains("the input has 2 lines to put in, more than --capacity 1: raise it");
    assert_eq!(dir.names(), ["a"]);
}

/// The limit stands for a machine with less memory.
#[cfg(target_os = "linux")]
#[test]
fn a_table_that_no_memory_holds() {
    let dir = Dir::with("a", "x\n");
    for kind in ["--fixed", ""] {
        let build = format!("$MALKOHA build {kind} --capacity 60G -o f a");
        let run = dir.shell(&format!("ulimit -v 4000000 && {build}"));
        assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{run:?}");
        let remedy = "bytes does not fit in memory: ask for fewer keys or a higher fpr\n";
        assert!(run.stderr.starts_with("malkoha: a table of "), "{}", run.stderr);
        assert!(run.stderr.ends_with(remedy) && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
    assert_eq!(dir.names(), ["a"]);
}

#[test]
fn two_uses_of_one_stream() {
    let dir = Dir::with("a", "x\n");
    dir.pipe("x\n", "screen --list -")
        .complains("list and input are both standard input: name a file for one of them");
    dir.run("build -o - --json a")
        .complains("--json and the filter cannot both go to standard output: name an output file");
}

/// Whole lines of such files equal nothing in a list of names, which the user has to be told.
#[test]
fn reads_that_are_compared_line_by_line() {
    let told = |option: &str, format: &str| {
        format!(
            "malkoha: 'reads' seems to be {format}, and is compared line by line: {option} compares \
             the names of its records\n"
        )
    };
    let dir = Dir::with("reads", "@r1 x\nACGT\n+\nIIII\n@r2\nAC\n+\nII\n").and("names", "r2\nr1\n");
    let run = dir.run("screen -k 1 -t blank -f names reads");
    assert_eq!((run.stderr, run.code), (told("--fastq", "FASTQ"), Some(1)));
    dir.run("screen --fastq -c -f names reads").prints("2\n");
    dir.write("reads", ">r1 x\nACGTACGTACGT\n>r2\nACGTTGCAACGTAAA\n");
    let run = dir.run("screen -k 1 -t blank -f names reads");
    assert_eq!((run.stderr, run.code), (told("--fasta", "FASTA"), Some(1)));
    dir.write("reads", "@someone\n> quoted\n+1\nI agree with it\n");
    dir.run("screen -f names reads").finds_nothing();
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
        ("ANN@X.EXAMPLE\n", "ann@x.example\n", "", "'list' are in upper case"),
        ("'Ann',\n", "Bob\nann\n", "", "'ann' in 'list' and 'input' differs in case"),
        ("“ann”\nx\n", "ann\n", "", "'ann' in 'list' and 'input' differs in case"),
        ("- ann\n- bob\n", "bob\n", "", "'bob' in 'list' and 'input' differs in case"),
        ("ann\u{a0}\n", "ann\n", "", "'list' begin or end with blanks"),
        (
            "A99F0000A99F0000A99F0000A99F0000\n",
            "a99f0000a99f0000a99f0000a99f0000\n",
            "",
            "--ignore-case",
        ),
        ("x,1\ny,2\n", "x\ny\n", "", "'list' have commas"),
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

#[test]
fn what_is_told_once() {
    let dir = Dir::with("a", "id,x\n1,a\n").and("b", "y,id\nb,2\n").and("c", "id,x\n3,c\n");
    let told = "malkoha: the header that is printed is 'id,x', but a file has 'y,id'\n";
    dir.run("union --csv -k id a c b").prints_and_tells("id,x\n1,a\n3,c\nb,2\n", told);
    dir.run("diff --csv -k id a b").prints("id,x\n1,a\n");
    dir.write("nul", "a\0b\0");
    let told = "malkoha: 'nul' seems to have records that end with NUL: --null (-0) reads these\n";
    dir.run("uniq nul").prints_and_tells("a\0b\0\n", told);
    dir.write("list", A_DIGEST);
    let told =
        "malkoha: 'list' seems to have digests already: leave --digest away to compare these\n";
    let run = dir.run("screen --digest sha1 -f list list");
    assert_eq!((run.stderr.as_str(), run.code), (told, Some(1)));
}

/// Names of reads as they stand in their files, and digests with what surrounds them.
#[test]
fn lists_as_other_programs_print_them() {
    let dir = Dir::new();
    dir.write("reads", "@r1 x\nAC\n+\nII\n@r2\nAC\n+\nII\n");
    dir.write("sequences", ">r1 x\nAC\nGT\n>r2\nAC\n");
    for list in ["r1\n", "@r1\n", "@r1 y\n", "@r1 x\nAC\n+\nII\n"] {
        dir.write("list", list);
        dir.run("screen --fastq -f list reads").prints("@r1 x\nAC\n+\nII\n");
        dir.run("screen --fastq -K 1 --list-delimiter blank -f list reads")
            .prints("@r1 x\nAC\n+\nII\n");
        dir.write("list", list.replace('@', ">"));
        dir.run("screen --fasta -f list sequences").prints(">r1 x\nAC\nGT\n");
    }
    dir.write("list", "86F7E437FAA5A7FCE15D1DDCB9EAEAEA377667B8 \r\n");
    dir.write("input", "a\nb\n");
    dir.run("screen --digest sha1 -f list input").prints("a\n");
    for sign in ["$NT$", "0x", "\\x"] {
        dir.write("list", format!("{sign}186CB09181E2C2ECAAC768C47C729904:a\n"));
        dir.run("screen --digest ntlm -K 1 --list-delimiter : -f list input").prints("a\n");
    }
}

/// The first line that tells spreadsheets what is between fields.
#[test]
fn tables_of_spreadsheets() {
    let table = "sep=;\r\nid;mail\r\n1;a\r\n2;a\r\n";
    let dir = Dir::with("table", table).and("list", "a\n");
    let named = "--csv -t ; -k mail";
    dir.run(&format!("screen {named} -f list table")).prints(table);
    dir.run(&format!("uniq {named} table")).prints("sep=;\r\nid;mail\r\n1;a\r\n");
    dir.run(&format!("uniq -c {named} table")).prints("sep=;\r\ncount;id;mail\r\n2;1;a\r\n");
    // The header comes later, and may have no end.
    let late = r"(printf 'sep=;\n'; sleep 0.2; printf 'id;mail\n1;a\n2;a\n')";
    dir.shell(&format!("{late} | $MALKOHA uniq --csv -t ';' -k mail -"))
        .prints("sep=;\nid;mail\n1;a\n");
    let run = dir.pipe("sep=;\nid;mail", &format!("uniq {named} -"));
    assert_eq!(run.stdout, b"sep=;\nid;mail\n", "{}", run.stderr);
    dir.run(&format!("screen {named} -K mail -o list -f table table"))
        .prints("table:3:1;a\r\ntable:3:2;a\r\n");
    let told = "malkoha: 1 record cannot be compared: the first, line 1 of 'table', 'sep=;\\r', \
                lacks the field that is compared\n";
    for options in ["--csv -t ; -k 2", "-t ; -k 2"] {
        dir.run(&format!("screen --crlf {options} -f list table"))
            .prints_and_tells("1;a\r\n2;a\r\n", told);
    }
}
