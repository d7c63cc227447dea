//! Cache lines that lookups fetch, counted by Valgrind.

use std::path::Path;
use std::process::Command;

use lab::keys::Present;
use lab::paper::lines::misses;

#[test]
fn a_blocked_lookup_fetches_one_line() {
    let lab = Path::new(env!("CARGO_BIN_EXE_lab"));
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("SKIPPED: Valgrind is not installed");
        return;
    }
    assert!(misses(lab, "no such", Present(0)).is_err_and(|e| e.to_string().contains("no such")));
    // The cache of the model hides 4 %.
    let lines = misses(lab, "blk-BF", Present(100)).unwrap().unwrap();
    assert!((0.93..1.02).contains(&lines), "{lines}");
}
