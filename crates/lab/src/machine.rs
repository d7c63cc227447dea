//! The machine and the build that a result comes from: a figure without them says nothing.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// What every result file says about where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// When, in UTC.
    pub date: String,
    /// The processor's name.
    pub cpu: String,
    /// Processors the system sees.
    pub cpus: usize,
    /// Size of each cache of processor 0, smallest level first.
    pub caches: String,
    /// Memory of the machine.
    pub memory: String,
    /// Kernel and its release.
    pub kernel: String,
    /// Runnable processes, on average over the last 1, 5 and 15 minutes: above the number
    /// of processors, speeds suffer.
    pub load: String,
    /// The system's setting for transparent huge pages.
    pub huge_pages: String,
    /// The compiler.
    pub rustc: String,
    /// The target and the features it was compiled for.
    pub target: String,
    /// The commit, with `+` if files differ from it.
    pub revision: String,
}

impl Machine {
    /// Describes this machine; what cannot be found out is "unknown".
    #[must_use]
    pub fn describe(date: Option<String>) -> Self {
        let now = || humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let line = |path, key| field(&fs::read_to_string(path).unwrap_or_default(), key);
        Self {
            date: date.unwrap_or_else(now),
            cpu: line("/proc/cpuinfo", "model name").unwrap_or_else(unknown),
            cpus: std::thread::available_parallelism().map_or(1, Into::into),
            caches: caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
            memory: line("/proc/meminfo", "MemTotal").unwrap_or_else(unknown),
            kernel: output("uname", &["-sr"]).unwrap_or_else(unknown),
            load: fs::read_to_string("/proc/loadavg").map_or_else(
                |_| unknown(),
                |text| text.split_whitespace().take(3).collect::<Vec<_>>().join(" "),
            ),
            huge_pages: fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
                .map_or_else(|_| unknown(), |setting| setting.trim().to_owned()),
            rustc: env!("LAB_RUSTC").to_owned(),
            target: format!("{} ({})", env!("LAB_TARGET"), env!("LAB_TARGET_FEATURES")),
            revision: revision().unwrap_or_else(unknown),
        }
    }

    /// Name and value of each property, in the order of a report's head.
    #[must_use]
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        vec![
            ("date", self.date.clone()),
            ("cpu", self.cpu.clone()),
            ("cpus", self.cpus.to_string()),
            ("caches", self.caches.clone()),
            ("memory", self.memory.clone()),
            ("kernel", self.kernel.clone()),
            ("load", self.load.clone()),
            ("huge pages", self.huge_pages.clone()),
            ("rustc", self.rustc.clone()),
            ("target", self.target.clone()),
            ("revision", self.revision.clone()),
        ]
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// The value of the first `key : value` line.
fn field(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

fn caches(directory: &Path) -> String {
    let read = |index: u32, file: &str| {
        let path = directory.join(format!("index{index}")).join(file);
        fs::read_to_string(path).map(|text| text.trim().to_owned())
    };
    let described: Vec<String> = (0..8)
        .map_while(|index| {
            let (level, size) = (read(index, "level").ok()?, read(index, "size").ok()?);
            let kind = match read(index, "type").ok()?.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            Some(format!("L{level}{kind} {size}"))
        })
        .collect();
    if described.is_empty() { unknown() } else { described.join(", ") }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn revision() -> Option<String> {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"])?;
    let changed = output("git", &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { commit + "+" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_whatever_the_blanks() {
        let text = "processor\t: 0\nmodel name\t: A CPU: fast\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A CPU: fast"));
        assert_eq!(field(text, "model"), None);
    }

    #[test]
    fn a_date_that_was_given_is_kept() {
        let machine = Machine::describe(Some("2024-02-29".into()));
        assert_eq!(machine.date, "2024-02-29");
        assert!(machine.rustc.starts_with("rustc"), "{}", machine.rustc);
        assert_eq!(Machine::describe(None).date.len(), "2024-02-29T00:00:00Z".len());
    }
}
