//! Completions and manual pages.

use crate::harness::Dir;
use crate::help::COMMANDS;

#[test]
fn completions_know_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = Dir::new().run(&format!("completions {shell}")).succeeds();
        let script = String::from_utf8(run.stdout).unwrap();
        for command in COMMANDS.split(' ') {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn bash_accepts_its_completions() {
    let run = Dir::new().shell("source <(malkoha completions bash) && complete -p malkoha");
    assert!(run.succeeds().stdout.starts_with(b"complete "));
}

#[test]
fn every_command_has_a_page() {
    let dir = Dir::new();
    for command in COMMANDS.split(' ') {
        let run = dir.run(&format!("man {command}")).succeeds();
        let page = String::from_utf8(run.stdout).unwrap();
        assert!(page.contains(".TH ") && page.contains(command), "{command}");
    }
    let page = String::from_utf8(dir.run("man store put").succeeds().stdout).unwrap();
    assert!(page.contains("malkoha") && page.contains(".SH \"EXIT STATUS\""), "{page}");
    assert!(dir.run("man screen").stdout.windows(8).any(|bytes| bytes == b"EXAMPLES"));
    assert!(dir.run("man").succeeds().stdout.windows(6).any(|bytes| bytes == b"screen"));
    dir.run("man nothing").complains("there is no command 'nothing': see malkoha --help");
}

/// Each page that another refers to is there.
#[test]
fn all_is_installed_at_once() {
    let dir = Dir::new();
    dir.run("man --install prefix").prints("");
    for file in [
        "man/man1/malkoha.1",
        "man/man1/malkoha-screen.1",
        "man/man1/malkoha-store-put.1",
        "bash-completion/completions/malkoha",
        "zsh/site-functions/_malkoha",
        "fish/vendor_completions.d/malkoha.fish",
    ] {
        assert!(dir.path(&format!("prefix/share/{file}")).is_file(), "{file}");
    }
    dir.shell("test ! -f none && grep -rhoE 'malkoha\\\\-[a-z\\\\-]+\\(1\\)' prefix/share/man | tr -d '\\\\' | sort -u |
        while read page; do test -f prefix/share/man/man1/${page%(1)}.1 || echo $page; done")
        .prints("");
}
