//! The report in a real browser: no errors, light, dark and narrow.
//!
//! Needs Chromium (Debian's package `chromium`, or its path in `CHROMIUM`). Without one the
//! browser's part is skipped, unless `LAB_REQUIRE_CHROMIUM` is set. Screenshots stay in cargo's
//! folder for tests' files (`target/tmp`).

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

fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn another_run_at_the_papers_size_and_the_time_of_a_whole_run_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let [data, large, out] = ["data", "large", "out"].map(|name| folder.path().join(name));
    let benchmarks = root().join("benchmarks");
    copy_files(&benchmarks.join("2026-11-22-xeon-2.3GHz/paper"), &data);
    copy_files(&benchmarks.join("2026-11-23-epyc/paper-192MB"), &large);
    // A run that has CF too, with the same figures, and a structure that the first has not.
    fs::create_dir(large.join("later")).unwrap();
    for name in ["table3.csv", "figure5.csv", "figure6.csv", "figure7.csv", "figure8.csv"] {
        let text = fs::read_to_string(large.join(name)).unwrap();
        let (head, rows) = text.split_at(text.find("group,").unwrap());
        let (columns, rows) = rows.split_once('\n').unwrap();
        let rows = rows.lines().filter(|row| row.contains(",CF,"));
        let rows = rows.flat_map(|row| [row.to_owned(), row.replacen(",CF,", ",nest,", 1)]);
        let rows: Vec<String> = rows.collect();
        let later = format!("{head}{columns}\n{}\n", rows.join("\n"));
        fs::write(large.join("later").join(name), later).unwrap();
    }
    let time = "# cpu: a nest\ngroup,series,x,y,paper\nseconds,figure2,0,90,\n\
                of these before it was stopped,figure2,0,40,\nseconds,toy,0,10,\n\
                of these before it was stopped,toy,0,0,\n";
    fs::write(data.join("time.csv"), time).unwrap();
    let figure2 = fs::read_to_string(large.join("figure2.csv")).unwrap();
    fs::write(large.join("figure2.csv"), figure2 + "b = 4,m = 2^30,6.0,0.9512,\n").unwrap();
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    let lab = lab.arg("report").arg("--data").arg(&data).arg("--large").arg(&large);
    assert!(lab.arg("--out").arg(&out).status().unwrap().success());
    let page = fs::read_to_string(out.join("index.html")).unwrap();
    let another = "the figures of nest are from another run (AMD EPYC, 1 processor, 2026-11-23), \
                   where CF was 1.00 times as fast";
    assert_eq!(page.matches(another).count(), 5, "table 3 and figures 5 to 8");
    assert!(page.contains("Another run at 192 MB (AMD EPYC"));
    assert!(page.contains("95.1 % at b = 4 with 6 bits.") && !page.contains("2^30 were not tried"));
    assert!(page.contains("ordinary sizes: 100 s (a nest") && page.contains("killed after 40 s"));
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
    assert_eq!(light.plots, 38);

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

    for (name, flags) in [
        ("light", &["--window-size=1200,9000"][..]),
        ("dark", &[dark_flag, "--window-size=1200,9000"]),
        ("phone", &["--window-size=360,9000"]),
    ] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}.png"));
        let flag = format!("--screenshot={}", path.display());
        browse(&chromium, &[flags, &[&flag]].concat(), &folder.path().join("index.html"));
        assert!(fs::read(&path).unwrap().starts_with(b"\x89PNG"), "{name}");
    }
}
