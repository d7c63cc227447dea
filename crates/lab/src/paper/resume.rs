//! What a long run has found so far, so that it can go on where it was stopped: one line of JSON
//! for each finished step, in the folder of its results.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// The file's name.
const NAME: &str = "steps.jsonl";

/// A finished step. Steps of another revision or machine are not reused.
#[derive(Serialize, Deserialize)]
struct Step {
    revision: String,
    cpu: String,
    /// What was done, with its size.
    name: String,
    found: serde_json::Value,
}

/// The finished steps of a run.
pub(super) struct Steps {
    file: File,
    revision: String,
    cpu: String,
    /// The result of each.
    found: BTreeMap<String, serde_json::Value>,
}

impl Steps {
    /// Reads the steps in a folder, or none unless the run is resumed.
    pub(super) fn open(folder: &Path, machine: &Machine, resume: bool) -> Result<Self> {
        let path = folder.join(NAME);
        let (revision, cpu) = (machine.revision.clone(), machine.cpu.clone());
        let mut found = BTreeMap::new();
        let mut whole = String::new();
        if resume {
            let text = match fs::read_to_string(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
                text => text.with_context(|| format!("reading {}", path.display()))?,
            };
            // A line that was cut off when the run was stopped is no finished step.
            for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
                let Ok(step) = serde_json::from_str::<Step>(line) else { continue };
                if step.revision == revision && step.cpu == cpu {
                    found.insert(step.name, step.found);
                    whole += line;
                }
            }
        }
        let create = || {
            fs::create_dir_all(folder)?;
            fs::write(&path, whole)?;
            OpenOptions::new().append(true).open(&path)
        };
        let file = create().with_context(|| format!("writing {}", path.display()))?;
        Ok(Self { file, revision, cpu, found })
    }

    /// How many are finished.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// The stored result of a step; runs it if there is none.
    pub(super) fn get_or<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        step: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(found) = self.found.get(name) {
            return T::deserialize(found).with_context(|| format!("the finished step {name}"));
        }
        let result = step()?;
        let found = serde_json::to_value(&result)?;
        let (revision, cpu, name) = (self.revision.clone(), self.cpu.clone(), name.to_owned());
        let step = Step { revision, cpu, name, found };
        let line = serde_json::to_string(&step)? + "\n";
        self.file.write_all(line.as_bytes()).context("noting a finished step")?;
        self.found.insert(step.name, step.found);
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_where_it_was_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::describe(Some("today".into()));
        let open = |machine: &Machine, resume| Steps::open(folder.path(), machine, resume).unwrap();
        let none = || panic!("the step was finished");
        let mut steps = open(&machine, false);
        assert_eq!(steps.get_or("a", || Ok(vec![(0.5, 1.0 / 3.0)])).unwrap(), [(0.5, 1.0 / 3.0)]);
        assert_eq!(steps.get_or("b", || Ok(2_u64)).unwrap(), 2);
        drop(steps);
        // The run was stopped within a line.
        let path = folder.path().join(NAME);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 3]).unwrap();
        let mut steps = open(&machine, true);
        assert_eq!(steps.len(), 1);
        let a: Vec<(f64, f64)> = steps.get_or("a", none).unwrap();
        assert_eq!(a, [(0.5, 1.0 / 3.0)]);
        assert_eq!(steps.get_or("b", || Ok(3_u64)).unwrap(), 3);
        assert_eq!(open(&machine, true).len(), 2);
        // Another program's steps, and a run that begins anew.
        let other = Machine { revision: "another".into(), ..machine.clone() };
        assert_eq!(open(&other, true).len(), 0);
        assert_eq!(open(&machine, false).len(), 0);
    }
}
