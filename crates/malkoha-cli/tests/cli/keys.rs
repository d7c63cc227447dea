//! What of a line is compared, in every command that reads lines.

use crate::harness::Dir;

const USERS: &str =
    "1,\"Kuckuck, A\",Ann@x.example\n2,Bob,bob@x.example\n3,Ann,ann@X.example\n4,Bob\n";

#[test]
fn every_command_takes_fields() {
    let dir = Dir::with("users", "ann;7\nbob;8\nann;9\n").and("names", "ann\ncyd\n");
    dir.run("screen -t ; -k 1 --list names users").prints("ann;7\nann;9\n");
    dir.run("screen -v -t ; -k 1 --list names users").prints("bob;8\n");
    dir.run("uniq -t ; -k 1 users").prints("ann;7\nbob;8\n");
    dir.run("uniq --approximate -t ; -k 1 users").prints("ann;7\nbob;8\n");
    dir.run("uniq -c -t ; -k 1 users").prints("      2 ann;7\n      1 bob;8\n");
    dir.run("build -q -o f.mlk names").prints("");
    dir.run("check -t ; -k 1 f.mlk users").prints("ann;7\nann;9\n");
    dir.run("new -q -t ; -k 1 n.mlk users").prints("ann;7\nbob;8\n");
    dir.run("build -q --copies -t ; -k 1 --capacity 10 -o g.mlk users").prints("");
    dir.run("count g.mlk names").prints("2\tann\n0\tcyd\n");
    dir.run("count --min 1 -t ; -k 1 g.mlk users").prints("2\tann;7\n1\tbob;8\n2\tann;9\n");
    dir.pipe("x;cyd\n", "add -q -t ; -k 2 g.mlk").prints("");
    dir.pipe("cyd\n", "check g.mlk").prints("cyd\n");
    dir.pipe("x;cyd\n", "remove -q -t ; -k 2 g.mlk").prints("");
    dir.pipe("cyd\n", "check g.mlk").finds_nothing();
    // A map of the first two fields.
    dir.run("build -q --values -t ; -k 1,2 --capacity 10 -o m.mlk users").prints("");
    dir.run("get m.mlk names").prints("ann\t7,9\n");
    dir.run("get -t ; -k 1 m.mlk users").prints("ann;7\t7,9\nbob;8\t8\nann;9\t7,9\n");
}

#[test]
fn csv_and_spelling() {
    let dir = Dir::with("users.csv", USERS)
        .and("emails", " ANN@x.example\r\n")
        .and("names", "\"Kuckuck, A\"\n");
    dir.run("screen --csv -k 2 --list names users.csv").prints("1,\"Kuckuck, A\",Ann@x.example\n");
    let run = dir.run("screen --csv -k 3 -i --crlf --trim --list emails users.csv");
    assert_eq!(run.stdout, b"1,\"Kuckuck, A\",Ann@x.example\n3,Ann,ann@X.example\n");
    assert_eq!(
        run.stderr,
        "malkoha: 1 record cannot be compared: the first, line 4 of 'users.csv', '4,Bob', lacks \
         the field that is compared\n"
    );
    dir.run("uniq -i --csv -k 2 users.csv")
        .prints("1,\"Kuckuck, A\",Ann@x.example\n2,Bob,bob@x.example\n3,Ann,ann@X.example\n");
    dir.pipe("a,\"b\n", "uniq --strict --csv -k 2")
        .complains("line 1 of standard input has a quote that is not closed: 'a,\\\"b'");
    dir.run("screen -k 0 --list names names").complains(
        "invalid value '0' for '--key <FIELDS>': write numbers of fields, from 1, as 2 or 1,3 or 2-4 \
         or 3- (see malkoha --help)",
    );
}

#[test]
fn json_lines() {
    let lines = "{\"id\":7,\"user\":{\"name\":\"ann\"}}\n{\"id\":8,\"user\":{\"name\":\"bob\"}}\n{\"id\":7}\n";
    let dir = Dir::with("events", lines).and("names", "bob\n");
    let run = dir.run("uniq --json-field none events");
    // Each equals no other.
    assert_eq!(run.stdout, lines.as_bytes());
    assert!(run.stderr.starts_with("malkoha: 3 records cannot be compared"), "{}", run.stderr);
    dir.run("uniq --json-field id events")
        .prints("{\"id\":7,\"user\":{\"name\":\"ann\"}}\n{\"id\":8,\"user\":{\"name\":\"bob\"}}\n");
    let run = dir.run("screen --json-field /user/name --list names events");
    assert_eq!(run.stdout, b"{\"id\":8,\"user\":{\"name\":\"bob\"}}\n");
    assert!(run.stderr.contains("line 3 of 'events'"), "{}", run.stderr);
}

/// The same names in every notation, beside a line of awk that tries each parent.
#[test]
fn domains_and_all_below_them() {
    let dir = Dir::with("plain", "# list\nads.example\nTracker.example.org.\nzip\n")
        .and("hosts", "127.0.0.1 localhost\n0.0.0.0 ads.example\n0.0.0.0 tracker.example.org # x\n0.0.0.0 zip\n")
        .and("adblock", "[Adblock Plus 2.0]\n! x\n||ads.example^\n||tracker.example.org^\n||zip^\n")
        .and("dnsmasq", "address=/ads.example/0.0.0.0\naddress=/tracker.example.org/zip/::\n");
    let names = "ads.example\nx.ads.example\nbads.example\nexample\nADS.EXAMPLE.\na.b.tracker.example.org\n\
                 example.org\nfile.zip\nzip\n\nads.example.com\n";
    let found =
        "ads.example\nx.ads.example\nADS.EXAMPLE.\na.b.tracker.example.org\nfile.zip\nzip\n";
    dir.write("names", names);
    for list in ["plain", "hosts", "adblock", "dnsmasq"] {
        for threads in [1, 2] {
            let run = dir.run(&format!("screen --domain --threads {threads} --list {list} names"));
            run.prints(found);
        }
    }
    dir.run("screen -v -c --domain --list plain names").prints("5\n");
    dir.pipe("1,x.ads.example\n2,y\n", "screen -k 2 -t , --domain --list plain")
        .prints("1,x.ads.example\n");
    let run = dir.pipe("no name\nzip\n", "screen -v --domain --list plain");
    assert_eq!((run.stdout.as_slice(), run.stderr.lines().count()), (&b"no name\n"[..], 1));
    dir.write("mixed", "ads.example\n##.banner\n@@||x.ads.example^\n");
    let run = dir.run("screen --domain --list mixed names");
    assert_eq!(
        run.stderr,
        "malkoha: 1 of 3 records of list 'mixed' cannot be compared: the first, line 2, \
         '##.banner', has no domain\n"
    );
    assert_eq!(run.stdout, b"ads.example\nADS.EXAMPLE.\n");
    dir.write("wrong", "# x\n/banner/\n");
    dir.run("screen --domain --list wrong names")
        .complains("nothing in list 'wrong' can be compared: line 2, '/banner/', has no domain");
}

/// Random rules of all ranks, beside the rule that the highest of those that meet a name decides;
/// and what is left of them when they are merged.
#[test]
fn exceptions_and_what_is_important() {
    let dir = Dir::with("names", "a\nb.a\nc.b.a\nd.c.b.a\ne.a\n");
    let names = ["a", "b.a", "c.b.a", "d.c.b.a", "e.a"];
    let mut random = 1_u64;
    let mut below = |end: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from((random >> 33) % end).unwrap()
    };
    for case in 0..200 {
        let (mut list, mut ranks) = (String::new(), [0; 5]);
        for _ in 0..1 + below(5) {
            let (name, rank, bars) = (names[below(4)], 1 + below(4), below(3));
            let at = ["", "@@"][(rank + 1) % 2];
            let important = ["", "$important"][(rank - 1) / 2];
            list += &format!("{at}{}{name}^{important}\n", ["||", "||*.", "|"][bars]);
            for (it, highest) in names.iter().zip(&mut ranks) {
                let is_below = it.ends_with(&format!(".{name}"));
                if *it == name && bars != 1 || is_below && bars != 2 {
                    *highest = rank.max(*highest);
                }
            }
        }
        let listed = names.iter().zip(ranks).filter(|(_, rank)| rank % 2 == 1);
        let expected: String = listed.map(|(name, _)| format!("{name}\n")).collect();
        dir.write("list", &list);
        let merged = dir.run("domains --format adblock list").stdout;
        dir.write("merged", &merged);
        for file in ["list", "merged"] {
            let run = dir.run(&format!("screen --domain -f {file} names"));
            let merged = String::from_utf8_lossy(&merged);
            assert_eq!(String::from_utf8_lossy(&run.stdout), expected, "{case}: {list}\n{merged}");
        }
    }
    // --allow outranks important rules.
    dir.write("list", "||a^$important\n||c.b.a^$important\n");
    dir.write("mine", "b.a\n");
    dir.run("domains --allow mine list").prints_and_tells(
        "a\n",
        "malkoha: 1 entries or exceptions cannot be written in this format\n",
    );
    dir.run("screen --domain --allow mine -f list names").prints("a\ne.a\n");
}

#[test]
fn addresses_in_networks() {
    let dir = Dir::with("list", "192.0.2.0/24 ; SBL1\n2001:db8::/32\n# x\n198.51.100.7\n");
    let log = "192.0.2.9 GET /\n192.0.3.1 GET /\n2001:db8:0:1::5 GET /\n198.51.100.7 GET /\n";
    dir.write("log", log);
    dir.shell("$MALKOHA screen --cidr -k 1 -t ' ' --list list log")
        .prints("192.0.2.9 GET /\n2001:db8:0:1::5 GET /\n198.51.100.7 GET /\n");
    // Exceptions are reported, except those of a list that `--allow` names.
    dir.write("rules", "192.0.2.0/24\nallow 192.0.2.9;\n-A INPUT -s 192.0.2.8 -j ACCEPT\n");
    let told = "malkoha: 2 of 3 records of list 'rules' are exceptions: the first, line 2, \
                'allow 192.0.2.9;'\n";
    dir.pipe("192.0.2.7\n192.0.2.9\n", "screen --cidr -f rules")
        .prints_and_tells("192.0.2.7\n", told);
    assert_eq!(dir.run("networks rules").stderr, told);
    dir.run("networks --allow rules list").prints("198.51.100.7\n2001:db8::/32\n");
    let excepted = dir.pipe("@@||b.example^\n", "domains -");
    assert_eq!(excepted.stderr, "malkoha: no domain is left\n");
    // An exception within an allowed network is not allowed.
    dir.write("hosts", "ALL: 10.0. EXCEPT 10.0.5.\n");
    dir.run("networks --allow hosts list").complains(
        "nothing in list 'hosts' can be compared: line 1, 'ALL: 10.0. EXCEPT 10.0.5.', does \
         something else than block: write what is meant alone",
    );
    dir.write("wrong", "ads.example\n");
    dir.run("screen --cidr --list wrong log").complains(
        "nothing in list 'wrong' can be compared: line 1, 'ads.example', has no address or network",
    );
}

/// Columns by the names in the first line of each file, wherever they are in it.
#[test]
fn columns_have_names() {
    let dir = Dir::with("users.csv", "id,\"e,mail\",name\n1,a@x,Ann\n")
        .and("some.csv", "email,name,age\na@x,Ann,3\nb@x,Bob,4\na@x,Al,5\n")
        .and("other.csv", "\u{feff}name,email\r\nCid,a@x\r\nDan,d@x\r\n")
        .and("emails", "a@x\nd@x\nemail\n");
    dir.run("screen --csv -k email -f emails some.csv")
        .prints("email,name,age\na@x,Ann,3\na@x,Al,5\n");
    dir.run("screen -v -m 1 --csv -k email -f emails other.csv some.csv some.csv")
        .prints_and_tells(
            "name,email\r\nb@x,Bob,4\nb@x,Bob,4\n",
            "malkoha: the header that is printed is 'name,email', but a file has 'email,name,age'\n",
        );
    // In front of it there is nothing, and it is counted nowhere.
    dir.run("screen -c --csv -k email -f emails some.csv").prints("2\n");
    dir.run("screen -H --csv -k email -f emails some.csv")
        .prints("some.csv:a@x,Ann,3\nsome.csv:a@x,Al,5\n");
    dir.run("screen -l --csv -k email -f emails some.csv").prints("some.csv\n");
    dir.run("screen -o list --csv -k email -f emails some.csv")
        .prints("emails:1:a@x,Ann,3\nemails:1:a@x,Al,5\n");
    dir.run("screen --csv -k email -n -f emails some.csv").prints("2:a@x,Ann,3\n4:a@x,Al,5\n");
    let (header, first) = ("email,name,age\n", "email,name,age\na@x,Ann,3\nb@x,Bob,4\n");
    dir.run("uniq --csv -k email some.csv other.csv").prints_and_tells(
        format!("{first}Dan,d@x\r\n"),
        "malkoha: the header that is printed is 'email,name,age', but a file has 'name,email'\n",
    );
    dir.run("uniq --csv -k name,email some.csv some.csv").prints(format!("{first}a@x,Al,5\n"));
    dir.run("uniq --approximate --csv -k email some.csv").prints(first);
    dir.run("uniq --within 1h --csv -k email some.csv").prints(first);
    dir.run("uniq --csv -d -k email some.csv").prints(format!("{header}a@x,Al,5\n"));
    dir.run("uniq --csv -u -k email some.csv").prints(format!("{header}b@x,Bob,4\n"));
    dir.run("uniq --csv -c -k email some.csv")
        .prints("count,email,name,age\n2,a@x,Ann,3\n1,b@x,Bob,4\n");
    dir.run("build -q --csv -k email -o f.mlk some.csv other.csv").prints("");
    assert_eq!(dir.run("info --json f.mlk").json()["keys"], 3);
    dir.run("check --csv -k email f.mlk other.csv").prints("name,email\r\nCid,a@x\r\nDan,d@x\r\n");
    dir.run("count --csv -k email f.mlk some.csv")
        .prints("1\ta@x,Ann,3\n1\tb@x,Bob,4\n1\ta@x,Al,5\n");
    dir.run("new -q --csv -k name n.mlk some.csv").prints(format!("{first}a@x,Al,5\n"));
    dir.run("new -q --csv -k name n.mlk some.csv").prints_with(1, header);
    dir.run("new -q --within 1h --csv -k name aged.mlk some.csv")
        .prints(format!("{first}a@x,Al,5\n"));
    dir.run("build -q --values --csv -k email,age -o ages.mlk some.csv").prints("");
    dir.run("build -q --values --csv -k age,name -o names.mlk other.csv some.csv").complains(
        "'other.csv': there is no column 'age' in the first line: it has 'name', 'email'",
    );
    dir.run("build -q --values --csv -k age,name -o names.mlk some.csv").complains(
        "line 2 of 'some.csv' has the value 'Ann': write a decimal number from 0 to \
         18446744073709551615",
    );
    dir.run("get --csv -k email ages.mlk some.csv")
        .prints("a@x,Ann,3\t3,5\nb@x,Bob,4\t4\na@x,Al,5\t3,5\n");
    dir.shell("cat some.csv | $MALKOHA uniq --csv -k email").prints(first);
    // Many blocks, all with the columns of the first.
    dir.shell("{ echo n,k; seq 1 200000 | awk '{ print $1 \",\" $1 % 7 }'; } > long.csv")
        .prints("");
    let lines: String = (1..=7).map(|n| format!("{n},{}\n", n % 7)).collect();
    dir.run("uniq --csv -k k long.csv").prints(format!("n,k\n{lines}"));

    dir.run("uniq --csv -k mail users.csv").complains(
        "'users.csv': there is no column 'mail' in the first line: it has 'id', 'e,mail', 'name'",
    );
    dir.run("uniq -k mail users.csv").complains(
        "-k mail: columns have names with --csv alone; write numbers of fields, from 1, as 2 or \
         1,3 or 2-4 or 3-",
    );
    dir.run("uniq --within 1h --time-field time --csv -k email some.csv")
        .complains("there is no column 'time' in the first line: it has 'email', 'name', 'age'");
    dir.pipe("a,email,email\n1,2,3\n", "uniq --csv -k email")
        .complains("standard input: several columns are called 'email': select one by its number");
}

#[test]
fn lists_that_cannot_have_as_many_fields_are_told() {
    let dir = Dir::with("rows", "a,b,c\nd,e,f\n").and("joined", "a\tb\n").and("one", "a\n");
    dir.run("screen --csv -k 1,2 -f joined rows").prints("a,b,c\n");
    dir.run("screen --csv -k 1- -f one rows").prints_with(1, "");
    dir.run("screen --csv -k 1,2 -f one rows").complains(
        "nothing in list 'one' can be compared: line 1, 'a', lacks the field that is compared",
    );
    dir.run("screen --csv -k 1,2 -K 1 -f rows rows")
        .complains("-k and -K select different numbers of fields: nothing can be equal");
    dir.run("screen --csv -k 1,2 -K 2- -f rows rows").prints_with(1, "");
    dir.run("diff --csv -k 1,2 -K 1,2,3 rows rows")
        .complains("-k and -K select different numbers of fields: nothing can be equal");
}
