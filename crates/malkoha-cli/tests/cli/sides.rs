//! `malkoha screen` by whichever side is smaller, and by indexes that are kept.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::harness::Dir;

/// A long list, and a short input, half of it in the list, with odd and repeated lines.
fn long_list() -> Dir {
    let dir = Dir::new();
    dir.shell(
        "(echo; seq 1 3 90000; printf '\\r\\n A \\nlast') > list
         (seq 0 700; echo; seq 0 700; echo last; echo; echo ' a'; echo 1x) > input",
    )
    .prints("");
    dir
}

/// What grep prints, and the short side and the long one.
#[test]
fn the_smaller_side_is_indexed_and_the_lines_are_the_same() {
    let dir = long_list();
    for option in ["", "-v", "-c"] {
        let expected = dir.shell(&format!("grep -a -F -x {option} -f list input")).stdout;
        for command in [
            "screen OPTION --list list input",
            "screen OPTION --threads 1 --list list input",
            "screen OPTION --list list - < input",
            "screen OPTION --list list < <(cat input)",
            "screen OPTION --list <(cat list) input",
            "screen OPTION --list <(gzip < list) < input",
            "screen OPTION --list list <(cat input)",
            "screen OPTION --list list < <(gzip < input)",
            "screen OPTION -f list -o list input | sed 's/^list:[0-9]*://'",
        ] {
            if command.contains("-o list") && !option.is_empty() {
                continue;
            }
            let command = command.replace("OPTION", option);
            dir.shell(&format!("malkoha {command}")).prints(&expected);
        }
    }
    dir.shell("split -n 3 input part; malkoha screen -f list partaa - partac < partab > found")
        .prints("");
    let expected =
        dir.shell("cat partaa partab partac > input; grep -Fxf list partaa partab partac -h");
    assert!(dir.read("found") == expected.stdout);
}

#[test]
fn keys_of_a_small_input_are_looked_for_in_a_long_list() {
    let dir = long_list();
    dir.shell("sed 's/.*/x,\"&\"/' input > input.csv; sed -i 's/$/\\r/' input").prints("");
    let plain = dir.shell("sed 's/\\r//' input | grep -Fxf list").stdout;
    let run = dir.run("screen --crlf --list list input").succeeds();
    assert_eq!(
        String::from_utf8(run.stdout).unwrap().replace('\r', ""),
        String::from_utf8(plain.clone()).unwrap()
    );
    let run = dir.run("screen --csv -k 2 --list list input.csv").succeeds();
    assert_eq!(run.stdout.split(|&b| b == b'\n').count(), plain.split(|&b| b == b'\n').count());
    dir.write("one", " A\r\nlast \n");
    dir.run("screen -i --trim --list list one").prints(" A\r\nlast \n");
    // Each of several fields is trimmed; one that is empty stays.
    dir.write("two", " b\ta\n\tb\n");
    dir.write("fields", "b :x: a\nb:x:\n");
    dir.run("screen -k 1,3 -t : --trim --list two fields").prints("b :x: a\n");
    // A missing field is reported once.
    dir.write("few", "a\t1\nb\n");
    let run = dir.run("screen -k 2 --list list few");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    // A key with the end of a line in it is no two keys.
    dir.write("records", "{\"a\":\"x\\n1\"}\n{\"a\":\"4\"}\n");
    dir.run("screen --json-field a --list list records").prints("{\"a\":\"4\"}\n");
}

#[test]
fn an_input_that_trickles_in_is_not_waited_for() {
    let dir = long_list();
    dir.shell(
        "seq 1 3000000 > list
         mkfifo pipe; malkoha screen --line-buffered --list list < pipe > out & exec 3> pipe
         sleep 0.3; echo 7 >&3
         for i in $(seq 100); do [ -s out ] && break; sleep 0.1; done
         cat out; exec 3>&-; wait",
    )
    .prints("7\n");
}

/// The list as it would be long after it was changed.
fn age(dir: &Dir, name: &str) {
    let file = fs::File::options().write(true).open(dir.path(name)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(1000)).unwrap();
}

#[test]
fn an_index_that_is_kept_is_used_until_the_list_changes() {
    let dir = long_list();
    let expected = dir.shell("grep -Fxf list input").stdout;
    dir.run("index -q list").prints("");
    assert_eq!(dir.names(), ["input", "list", "list.mlx"]);
    dir.run("verify list.mlx").prints("list.mlx: ok\n");
    dir.run("screen -f list input").prints(&expected);
    dir.shell("malkoha screen -f list < <(cat input)").prints(&expected);
    let with_places = dir.run("screen -o list -f list input").succeeds().stdout;
    assert!(with_places.starts_with(b"list:2:1\n"), "{with_places:?}");
    // Another time and the same content.
    age(&dir, "list");
    dir.run("screen -f list input").prints(&expected);
    // The same size and time, and other content.
    dir.shell("cp list kept; touch -r list ref; sed -i 's/^70$/71/' list; touch -r ref list")
        .prints("");
    let run = dir.run("screen -f list input");
    assert_eq!(
        run.stderr,
        "malkoha: 'list': its index is not used: the list has changed: renew it by 'malkoha index list'\n"
    );
    assert_eq!(run.stdout, dir.shell("grep -Fxf list input").stdout);
    // Another size.
    dir.shell("echo 0 >> list").prints("");
    let run = dir.run("screen -f list input");
    assert!(run.stderr.contains("another size"), "{}", run.stderr);
    assert_eq!(run.stdout, dir.shell("grep -Fxf list input").stdout);
    dir.run("index -q list").prints("");
    dir.run("screen -f list input").prints(&run.stdout);
    // Not what this index can do.
    let other = dir.run("screen -k 1 -K 1 -f list input").succeeds();
    assert!(other.stderr.contains("of other fields, of another spelling"), "{other:?}");
    // Damage is found, where it can be, and never believed.
    let mut damaged = dir.read("list.mlx");
    damaged[20] ^= 1;
    dir.write("list.mlx", &damaged);
    let told = dir.run("screen -f list input");
    assert!(told.stderr.contains("its header is damaged"), "{}", told.stderr);
    assert_eq!(told.stdout, run.stdout);
    damaged[20] ^= 1;
    damaged[9000] ^= 1;
    dir.write("list.mlx", &damaged);
    let told = dir.run("verify list.mlx");
    assert!(
        told.code == Some(2) && told.stderr.contains("index 'list.mlx' is not whole"),
        "{told:?}"
    );
}

#[test]
fn what_can_have_no_index_is_refused() {
    let dir = long_list();
    dir.shell("gzip -k list; mkdir sub; echo x > input.mlx").prints("");
    let plain = "is no plain file of lines: indexes are kept of these only";
    dir.run("index list.gz").complains(&format!("'list.gz' {plain}"));
    dir.run("index sub").complains(&format!("'sub' {plain}"));
    dir.run("index -").complains("an index is written next to a file: name it");
    dir.run("index -q input")
        .complains("'input.mlx' exists and is of another kind: move it elsewhere");
    dir.run("index none").complains("cannot open list 'none': No such file or directory");
    dir.run("index -q -0 list").complains(
        "'list' seems to have lines, and no records that end with NUL: leave --null (-0) away",
    );
    dir.shell("printf 'a\\0b\\n\\0' > nul; malkoha index -q -0 nul").prints("");
    let run = dir.run("screen -f nul input");
    assert!(run.stderr.contains("records that end otherwise (see --null)"), "{}", run.stderr);
}
