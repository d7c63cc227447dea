//! Pages of the guide: their commands run, and print what they show.

use std::path::Path;

use crate::harness::Dir;

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join("docs/guide").join(name)).unwrap()
}

#[test]
fn commands_of_the_page_on_data_sets_run() {
    let (page, dir) = (page("datasets.md"), Dir::new());
    for folder in ["raw", "crawl-05", "crawl-06", "evals"] {
        std::fs::create_dir(dir.path(folder)).unwrap();
        let name = if folder == "evals" { "raw" } else { folder };
        let text: Vec<String> = (0..20).map(|n| format!("{name}{n}")).collect();
        let text = text.join(" ");
        let line = format!("{{\"text\":\"{text}\",\"question\":\"{text}\"}}\n");
        dir.write(&format!("{folder}/a.jsonl"), line);
    }
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("malkoha ")).collect();
    assert!(commands.len() > 4, "{commands:?}");
    for command in commands {
        dir.run(command).succeeds();
    }
}

#[test]
fn commands_of_the_guide_print_what_it_shows() {
    let page = page("lists.md");
    let dir = Dir::new();
    let blocks = page.split("```").skip(1).step_by(2);
    let commands: Vec<&str> = blocks.flat_map(|block| block.split("\n$ ").skip(1)).collect();
    assert!(commands.len() > 20, "{commands:?}");
    for shown in commands {
        let (command, output) = shown.split_once('\n').unwrap_or((shown, ""));
        let run = dir.shell(&format!("exec 2>&1; {command}"));
        let printed = String::from_utf8(run.stdout).unwrap();
        assert_eq!(printed.trim_end(), output.trim_end(), "{command}");
    }
}
