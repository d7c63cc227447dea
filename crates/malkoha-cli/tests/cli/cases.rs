//! The files in `cases`: commands, and everything that they print.
//!
//! `== TITLE` begins a case, which has a directory of its own, and is played once per line
//! `with VARIABLE=VALUE` below the title. `$ ` begins a command of bash, and `> ` continues it.
//! Then follow its standard output, its standard error after `! `, and in brackets its exit code,
//! if that is not 0. `# ` begins a comment. `UPDATE_GOLDEN=1` writes what is printed now.

use std::path::Path;
use std::{env, fs};

use crate::harness::{Dir, Run};

macro_rules! cases {
    ($($file:ident)*) => {
        $(#[test]
        fn $file() {
            play(stringify!($file));
        })*

        #[test]
        fn every_file_is_played() {
            let files = folder().read_dir().unwrap();
            let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, [$(concat!(stringify!($file), ".txt")),*]);
        }
    };
}

cases! {
    documents filter_files hints indexes keys map_errors maps messages new overlap places screen
    sets store store_records union uniq
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/cases"))
}

fn play(file: &str) {
    let path = folder().join(file).with_extension("txt");
    let text = fs::read_to_string(&path).unwrap();
    let mut cases = text.trim_end().split("\n\n== ");
    let mut played = cases.next().unwrap().to_owned();
    for case in cases {
        let settings: Vec<&str> = case.lines().filter(|line| line.starts_with("with ")).collect();
        let mut ways =
            settings.iter().map(|line| &line[5..]).chain(settings.is_empty().then_some(""));
        played += "\n\n== ";
        played += play_case(case, ways.next().unwrap()).trim_end();
        ways.for_each(|way| drop(play_case(case, way)));
    }
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, played + "\n").unwrap();
    }
}

/// Returns the case with what its commands print now.
fn play_case(case: &str, setting: &str) -> String {
    let dir = Dir::new();
    let (mut played, mut lines) = (String::new(), case.lines().peekable());
    while let Some(line) = lines.next() {
        played += &format!("{line}\n");
        let Some(command) = line.strip_prefix("$ ") else { continue };
        let mut script = format!("{setting}\n{command}\n");
        while let Some(line) = lines.next_if(|line| line.starts_with("> ")) {
            script += &format!("{}\n", &line[2..]);
            played += &format!("{line}\n");
        }
        let mut expected = String::new();
        let is_output = |line: &&str| !line.starts_with("$ ") && !line.starts_with("# ");
        while let Some(line) = lines.next_if(is_output) {
            expected += &format!("{line}\n");
        }
        let printed = shown(dir.shell(&script));
        let is_new = env::var_os("UPDATE_GOLDEN").is_some();
        assert!(is_new || printed == expected, "{script}prints\n{printed}and not\n{expected}");
        played += &printed;
    }
    played
}

fn shown(run: Run) -> String {
    // Control characters as `cat -v` shows them.
    let visible = |c: char| match c {
        '\n' | '\t' => c.to_string(),
        '\0'..' ' => format!("^{}", char::from(c as u8 + 64)),
        _ => c.to_string(),
    };
    let mut text: String = String::from_utf8(run.stdout).unwrap().chars().map(visible).collect();
    if !text.is_empty() && !text.ends_with('\n') {
        text += " (no newline)\n";
    }
    text.extend(run.stderr.lines().map(|line| format!("! {line}\n")));
    match run.code.unwrap() {
        0 => text,
        code => format!("{text}[{code}]\n"),
    }
}
