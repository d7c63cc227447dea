//! The page of the guide about lists: its commands print what it shows.

use std::path::Path;

use crate::harness::{Dir, MALKOHA};

#[test]
fn commands_of_the_guide_print_what_it_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/guide/lists.md")).unwrap();
    let path = Path::new(MALKOHA).parent().unwrap().display().to_string();
    let dir = Dir::new();
    let blocks = page.split("```").skip(1).step_by(2);
    let commands: Vec<&str> = blocks.flat_map(|block| block.split("\n$ ").skip(1)).collect();
    assert!(commands.len() > 20, "{commands:?}");
    for shown in commands {
        let (command, output) = shown.split_once('\n').unwrap_or((shown, ""));
        let run = dir.shell(&format!("export PATH={path}:$PATH; exec 2>&1; {command}"));
        let printed = String::from_utf8(run.stdout).unwrap();
        assert_eq!(printed.trim_end(), output.trim_end(), "{command}");
    }
}
