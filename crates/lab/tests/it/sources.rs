//! docs/SOURCES.md names files and tests: all of them exist.

use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 3] = ["crates", "", "docs"];

/// The file, if there is one.
fn found(root: &Path, path: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| root.join(folder).join(path)).find(|path| path.exists())
}

/// What is wrong with a name in the page, if anything.
fn wrong(root: &Path, name: &str) -> Option<String> {
    let (path, test) = name.split_once("::").map_or((name, None), |(path, t)| (path, Some(t)));
    let Some(path) = found(root, path) else { return Some(format!("no file {path}")) };
    let test = test?;
    let text = fs::read_to_string(&path).unwrap();
    // Tests of a macro stand there as a name and a parameter.
    let there = [format!("fn {test}("), format!("fn {test}<"), format!("\n    {test}")];
    (!there.iter().any(|line| text.contains(line))).then(|| format!("no test {name}"))
}

#[test]
fn every_file_and_test_of_the_sources_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/SOURCES.md")).unwrap();
    let spans = page.split('`').skip(1).step_by(2);
    let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let names = spans.filter(|span| span.contains('/')).chain(links);
    let names: Vec<&str> = names.map(|name| name.trim_start_matches("../")).collect();
    assert!(names.len() > 60, "{} names", names.len());
    let faults: Vec<String> = names.iter().filter_map(|name| wrong(&root, name)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // It can fail.
    assert!(wrong(&root, "lab/src/nest.rs").is_some());
    assert!(wrong(&root, "lab/src/keys.rs::nest").is_some());
}
