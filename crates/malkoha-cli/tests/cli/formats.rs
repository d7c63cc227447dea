//! Random lists and inputs in every format, compared with plain sets.

use std::process::Command;

use crate::harness::{Dir, MALKOHA};

#[test]
fn random_lists_are_compared_as_sets() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../checks/lists");
    let Ok(run) = Command::new("python3").args([script, MALKOHA, "150", "1"]).output() else {
        return eprintln!("skipped: python3 is needed");
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}

/// Random rules of all ranks, compared with the rule that the highest of those that meet a name
/// decides; and what is left of them when they are merged.
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
}
