//! The committed plots of the report are up to date.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_committed_plots_are_what_the_committed_results_give() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    // The committed results are where it looks for them.
    let output = lab.current_dir(&root).arg("report").arg("--out").arg(folder.path()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut plots, mut total) = (0, 0);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let committed = root.join("docs/report").join(path.file_name().unwrap());
        let (new, old) = (fs::read_to_string(&path).unwrap(), fs::read_to_string(&committed));
        assert!(old.is_ok_and(|old| old == new), "run `lab report`: {}", committed.display());
        plots += 1;
        total += new.len();
    }
    assert_eq!(plots, 36);
    assert!(total < 2_000_000, "{total} bytes");
}
