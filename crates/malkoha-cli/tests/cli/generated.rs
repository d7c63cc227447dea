//! Completions and manual pages.

use crate::harness::Dir;

const COMMANDS: [&str; 12] = [
    "screen",
    "uniq",
    "new",
    "build",
    "check",
    "add",
    "remove",
    "info",
    "verify",
    "plan",
    "completions",
    "man",
];

#[test]
fn completions_know_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Dir::new().run(&format!("completions {shell}")).succeeds();
        let script = String::from_utf8(run.stdout).unwrap();
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn bash_accepts_its_completions() {
    let run = Dir::new().shell("source <($MALKOHA completions bash) && complete -p malkoha");
    assert!(run.succeeds().stdout.starts_with(b"complete "));
}

#[test]
fn every_command_has_a_page() {
    let dir = Dir::new();
    for command in COMMANDS {
        let run = dir.run(&format!("man {command}")).succeeds();
        let page = String::from_utf8(run.stdout).unwrap();
        assert!(page.contains(".TH ") && page.contains(command), "{command}");
    }
    assert!(dir.run("man").succeeds().stdout.windows(6).any(|bytes| bytes == b"screen"));
    dir.run("man nothing").complains("there is no command 'nothing': see malkoha --help");
}
