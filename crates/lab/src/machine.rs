//! The machine and the build that a result comes from: a figure without them says nothing.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// The head of every result file: names and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Name and value of each property, in order.
    pub properties: Vec<(String, String)>,
}

impl Machine {
    /// Describes this machine; "unknown" stands for all that cannot be found out.
    #[must_use]
    pub fn describe(date: Option<String>) -> Self {
        let now = || humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let read = |path| fs::read_to_string(path).ok();
        let line = |path, key| field(&read(path)?, key);
        let load = || {
            Some(read("/proc/loadavg")?.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        };
        let pages = "/sys/kernel/mm/transparent_hugepage/enabled";
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let properties = [
            ("date", Some(date.unwrap_or_else(now))),
            ("cpu", line("/proc/cpuinfo", "model name")),
            // Those that the system sees.
            ("cpus", Some(cpus.to_string())),
            ("caches", caches(Path::new("/sys/devices/system/cpu/cpu0/cache"))),
            ("memory", line("/proc/meminfo", "MemTotal")),
            ("kernel", output("uname", &["-sr"])),
            // Runnable processes, on average over the last 1, 5 and 15 minutes: above the number of
            // processors, speeds suffer.
            ("load", load()),
            ("huge pages", read(pages).map(|setting| setting.trim().to_owned())),
            ("rustc", Some(env!("LAB_RUSTC").to_owned())),
            ("target", Some(format!("{} ({})", env!("LAB_TARGET"), env!("LAB_TARGET_FEATURES")))),
            // The commit, with `+` if files differ from it.
            ("revision", revision()),
        ];
        let unknown = || "unknown".to_owned();
        let known =
            properties.map(|(name, value)| (name.to_owned(), value.unwrap_or_else(unknown)));
        Self { properties: known.to_vec() }
    }

    /// Comments of a result file: a line for each property.
    #[must_use]
    pub fn head(&self) -> String {
        self.properties.iter().map(|(name, value)| format!("# {name}: {value}\n")).collect()
    }

    /// A property's value; "unknown" where there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        let found = self.properties.iter().find(|property| property.0 == name);
        found.map_or("unknown", |property| &property.1)
    }
}

/// The value of the first `key : value` line.
fn field(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

/// The size of each cache of a processor, smallest level first.
fn caches(directory: &Path) -> Option<String> {
    let describe = |index: u32| {
        let folder = directory.join(format!("index{index}"));
        let read = |file| Some(fs::read_to_string(folder.join(file)).ok()?.trim().to_owned());
        let kind = match &*read("type")? {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some(format!("L{}{kind} {}", read("level")?, read("size")?))
    };
    let described: Vec<String> = (0..8).map_while(describe).collect();
    (!described.is_empty()).then(|| described.join(", "))
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
        assert_eq!(machine.get("date"), "2024-02-29");
        assert!(machine.get("rustc").starts_with("rustc"), "{machine:?}");
        assert_eq!(Machine::describe(None).get("date").len(), "2024-02-29T00:00:00Z".len());
    }
}
