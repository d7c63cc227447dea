//! Help texts, word for word. `UPDATE_GOLDEN=1 cargo test -p malkoha-cli` rewrites them.

use std::path::Path;
use std::{env, fs};

use crate::harness::Dir;

/// All but those that are optional.
pub(crate) const COMMANDS: &str = "screen index uniq dedup overlap new build check count get add \
    remove union domains networks intersect diff info verify plan trace store completions man";

#[test]
fn help_texts_are_as_reviewed() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let optional: &[&str] = if cfg!(feature = "remote") { &["remote"] } else { &[] };
    for command in [""].into_iter().chain(COMMANDS.split(' ')).chain(optional.iter().copied()) {
        let run = Dir::new().run(&format!("{command} --help")).succeeds();
        let name = if command.is_empty() { "malkoha" } else { command };
        let path = golden.join(format!("{name}.txt"));
        let mut text = String::from_utf8(run.stdout).unwrap();
        if command.is_empty() {
            let is_optional = |line: &&str| optional.iter().any(|name| line.contains(name));
            text = text.lines().filter(|line| !is_optional(line)).flat_map(|l| [l, "\n"]).collect();
        }
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, fs::read_to_string(&path).unwrap(), "{name}");
        assert!(text.lines().all(|line| line.len() <= 80), "{name}: lines of over 80 columns");
    }
}

#[test]
fn the_version_is_the_packages() {
    Dir::new().run("--version").prints(concat!("malkoha ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn no_command_is_answered_with_the_commands() {
    let run = Dir::new().run("");
    assert_eq!((run.code, run.stdout.len()), (Some(2), 0));
    assert!(run.stderr.starts_with("Screen lines") && run.stderr.contains("\n  verify "));
}
