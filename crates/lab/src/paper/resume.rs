//! The results of each finished step of a long run, in a JSON file in the folder of its results, so
//! that it can continue where it was stopped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// The finished steps of a run, in their file.
#[derive(Serialize, Deserialize)]
pub(super) struct Steps {
    #[serde(skip)]
    path: PathBuf,
    /// The program and the machine. Steps of others are not reused.
    of: [String; 2],
    /// The result of each, by its name.
    found: BTreeMap<String, serde_json::Value>,
}

impl Steps {
    /// Reads the steps in a folder, or none unless the run is resumed.
    pub(super) fn open(folder: &Path, machine: &Machine, resume: bool) -> Result<Self> {
        let path = folder.join("steps.json");
        let of = ["revision", "cpu"].map(|name| machine.get(name).to_owned());
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let text = fs::read_to_string(&path).unwrap_or_default();
        let is_same = |steps: &Self| resume && steps.of == of;
        let known = serde_json::from_str(&text).ok().filter(is_same);
        let found = known.map_or_else(BTreeMap::new, |steps| steps.found);
        Ok(Self { path, of, found })
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
        self.found.insert(name.to_owned(), serde_json::to_value(&result)?);
        // Under another name first: a run can be stopped while it writes.
        let new = self.path.with_extension("new");
        let write = || fs::write(&new, serde_json::to_vec(&self)?).map_err(anyhow::Error::from);
        write()
            .and_then(|()| Ok(fs::rename(&new, &self.path)?))
            .context("noting a finished step")?;
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_continues_where_it_was_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::describe(Some("today".into()));
        let open = |machine: &Machine, resume| Steps::open(folder.path(), machine, resume).unwrap();
        let none = || panic!("the step was finished");
        let mut steps = open(&machine, false);
        assert_eq!(steps.get_or("a", || Ok(vec![(0.5, 1.0 / 3.0)])).unwrap(), [(0.5, 1.0 / 3.0)]);
        let mut steps = open(&machine, true);
        assert_eq!(steps.len(), 1);
        let a: Vec<(f64, f64)> = steps.get_or("a", none).unwrap();
        assert_eq!(a, [(0.5, 1.0 / 3.0)]);
        assert_eq!(steps.get_or("b", || Ok(3_u64)).unwrap(), 3);
        assert_eq!(open(&machine, true).len(), 2);
        // Another program's steps, and a run from the start.
        let other = Machine { properties: vec![("revision".into(), "another".into())] };
        assert_eq!((open(&other, true).len(), open(&machine, false).len()), (0, 0));
    }
}
