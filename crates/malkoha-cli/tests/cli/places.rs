//! Several lists, and which list, file and line it was: as grep tells it.

use crate::harness::Dir;

fn dir() -> Dir {
    let dir =
        Dir::with("a", "x\nb\n").and("b", "c\nb\nd").and("one", "d\ny\nb\n").and("two", "c\n\nd");
    dir.shell("mkdir -p sub/deep; cp one sub/1; cp two sub/deep/2; ln -s ../one sub/link")
        .prints("");
    dir
}

#[test]
fn files_and_numbers_are_those_of_grep() {
    let dir = dir();
    for options in [
        "-H",
        "-n",
        "-Hn",
        "-Hnv",
        "-l",
        "-lv",
        "-cH",
        "-m1",
        "-m2 -n",
        "-Hm1",
        "-v -m 1 -H",
        "-rHn",
        "-rl",
        "-r -H -c",
    ] {
        let files = if options.contains("-r") { "sub one" } else { "one two - one" };
        let sorted = if options.contains("-r") { "| sort" } else { "" };
        let expected =
            dir.shell(&format!("printf 'b\\nq' | grep -aFx {options} -f a -f b {files} {sorted}"));
        let expected = String::from_utf8(expected.stdout).unwrap();
        let expected = if options.contains(['H', 'l']) {
            expected
        } else {
            // grep names several files by itself.
            dir.shell(&format!("printf 'b\\nq' | grep -haFx {options} -f a -f b {files}"))
                .stdout
                .try_into()
                .unwrap()
        };
        let run = dir.shell(&format!(
            "printf 'b\\nq' | $MALKOHA screen {options} -f a -f b {files} {sorted}"
        ));
        run.prints(expected);
    }
}

#[test]
fn lists_are_named_with_their_lines() {
    let dir = dir();
    dir.run("screen -Hn -o list -f a -f b one two")
        .prints("one:1:b:3:d\none:3:a:2:b\ntwo:1:b:1:c\ntwo:3:b:3:d\n");
    dir.run("index -q b").prints("");
    dir.run("screen -n -o list -f a -f b one").prints("1:b:3:d\n3:a:2:b\n");
    dir.run("screen -o list --list b -f a one").prints("b:3:d\nb:2:b\n");
    dir.write("hosts", "# x\n0.0.0.0 ads.example\n\nexample\n");
    dir.run("screen --domain -o list -f a -f hosts <(:) two").code.unwrap();
    dir.pipe(
        "www.ads.example\nother.example.\nads.test\n",
        "screen --domain -o list -f a -f hosts",
    )
    .prints("hosts:2:www.ads.example\nhosts:4:other.example.\n");
    dir.write("nets", "10.0.0.0/8\n10.1.0.0/16\n");
    dir.pipe("10.1.2.3\n10.2.0.1\n11.0.0.1\n", "screen --cidr -n -o list -f nets")
        .prints("1:nets:2:10.1.2.3\n2:nets:1:10.2.0.1\n");
    dir.shell("seq 3000 > long; seq 3000 | sed 's/.*/long:&:&/' > numbered").prints("");
    dir.run("screen -o list -f a -f long long").prints(dir.read("numbered"));
    let run = dir.run("screen -v -o list -f a one");
    assert!(run.code == Some(2) && run.stderr.contains("cannot be used with"), "{run:?}");
}

#[test]
fn several_lists_of_several_kinds_are_one() {
    let dir = dir();
    dir.shell("printf 'y\\t1\\n' | $MALKOHA store load s 2> told; gzip -c b > b.gz").prints("");
    dir.run("screen -f a -f s -f b.gz one two").prints("d\ny\nb\nc\nd\n");
    dir.run("screen --approximate --fpr 1e-6 -f a -f b one").prints("d\nb\n");
    dir.pipe("d\n", "screen -f a -f - one").prints("d\nb\n");
    let run = dir.run("screen -f a -f - -");
    assert!(run.stderr.contains("list and input are both standard input"), "{run:?}");
    dir.run("check -Hn none one").code.unwrap();
}

#[test]
fn check_tells_places_too() {
    let dir = dir();
    dir.run("build -q -o f.mlk b").prints("");
    dir.run("check -Hn f.mlk one two").prints("one:1:d\none:3:b\ntwo:1:c\ntwo:3:d\n");
    dir.run("check -l f.mlk one a two").prints("one\na\ntwo\n");
}

/// Reading ends when enough was found, though more could come.
#[test]
fn enough_is_enough() {
    let dir = dir();
    dir.shell(
        "mkfifo pipe; (yes b & echo $! > pid; wait) > pipe 2> none & 
         timeout 20 $MALKOHA screen -m 3 -f a pipe",
    )
    .prints("b\nb\nb\n");
    dir.shell(
        "(yes q | head -1000000; echo b; yes q) 2> none | timeout 20 $MALKOHA screen -l -f a",
    )
    .prints("(standard input)\n");
}
