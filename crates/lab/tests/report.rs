//! The report in a real browser: no errors, light, dark and narrow.
//!
//! Needs Chromium (Debian's package `chromium`, or its path in `CHROMIUM`). Without one the
//! browser's part is skipped, unless `LAB_REQUIRE_CHROMIUM` is set.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// What the page says about itself.
#[derive(Deserialize)]
struct Probe {
    width: u32,
    window: u32,
    background: String,
    plot: String,
    plots: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn make_report(folder: &Path) {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    // The committed results are where it looks for them.
    let lab = lab.current_dir(root()).arg("report").arg("--out").arg(folder);
    let output = lab.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let in_path = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file());
    std::env::var_os("CHROMIUM").map(PathBuf::from).or(in_path)
}

/// What Chromium prints, and the console messages from its log.
fn browse(chromium: &Path, flags: &[&str], page: &Path) -> (String, Vec<String>) {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(chromium)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=2000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(flags)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let messages = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned);
    (String::from_utf8(output.stdout).unwrap(), messages.collect())
}

/// The page with a script that reports in the title.
fn probed(folder: &Path) -> PathBuf {
    let script = r##"<script>
        document.title = JSON.stringify({
          width: document.documentElement.scrollWidth,
          window: innerWidth,
          background: getComputedStyle(document.body).backgroundColor,
          plot: getComputedStyle(document.querySelector("figure svg rect")).fill,
          plots: document.querySelectorAll("figure svg").length,
        });
        parent.postMessage(document.title, "*");
        </script></body>"##;
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    let path = folder.join("probed.html");
    fs::write(&path, page.replace("</body>", script)).unwrap();
    path
}

fn probe(chromium: &Path, flags: &[&str], page: &Path) -> Probe {
    let (dom, messages) = browse(chromium, &[&["--dump-dom"], flags].concat(), page);
    assert!(messages.is_empty(), "{messages:?}");
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    serde_json::from_str(title.unwrap()).unwrap()
}

#[test]
fn the_committed_report_is_what_the_committed_results_give() {
    let folder = tempfile::tempdir().unwrap();
    make_report(folder.path());
    let mut total = 0;
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        // The same again as one page, made where it is wanted.
        if path.ends_with("index.html") {
            continue;
        }
        let committed = root().join("docs/report").join(path.file_name().unwrap());
        let (new, old) = (fs::read_to_string(&path).unwrap(), fs::read_to_string(&committed));
        assert!(old.is_ok_and(|old| old == new), "run `lab report`: {}", committed.display());
        total += new.len();
    }
    assert!(total < 2_000_000, "{total} bytes");
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    for outside in ["src=\"http", "href=\"http", "url(", "@import", "fetch("] {
        assert!(!page.contains(outside), "the page refers to {outside}");
    }
}

#[test]
fn the_report_works_in_a_browser() {
    let Some(chromium) = chromium() else {
        let required = std::env::var_os("LAB_REQUIRE_CHROMIUM").is_some();
        assert!(!required, "no Chromium found: install it, or set CHROMIUM to its path");
        eprintln!("SKIPPED: no Chromium found; install it, or set CHROMIUM to its path");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    make_report(folder.path());

    // The check itself can fail.
    let broken = folder.path().join("broken.html");
    fs::write(&broken, "<script>nothing()</script>").unwrap();
    assert!(!browse(&chromium, &["--dump-dom"], &broken).1.is_empty());

    let page = probed(folder.path());
    let light = probe(&chromium, &["--window-size=1200,900"], &page);
    assert_eq!(light.plots, 36);

    let dark_flag = "--blink-settings=preferredColorScheme=0";
    let dark = probe(&chromium, &[dark_flag, "--window-size=1200,900"], &page);
    assert_eq!(light.background, "rgb(255, 255, 255)");
    assert_eq!(light.plot, "rgb(255, 255, 255)");
    assert_eq!([dark.background, dark.plot], ["rgb(13, 17, 23)", "rgb(13, 17, 23)"]);

    // Chromium's own window is never narrower than 500.
    let narrow = folder.path().join("narrow.html");
    let frame = r#"<title></title><script>onmessage = (e) => { document.title = e.data; }</script>
        <iframe src="probed.html" style="width:360px;height:800px;border:0"></iframe>"#;
    fs::write(&narrow, frame).unwrap();
    let phone = probe(&chromium, &[], &narrow);
    assert_eq!((phone.window, phone.width), (360, 360), "the page is wider than a telephone");
}
