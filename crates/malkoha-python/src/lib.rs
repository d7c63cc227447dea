//! The native half of the Python package `malkoha`: docs/PYTHON.md is its guide.
//!
//! ```text
//! Python objects --key, scalars, columns/--> hashes --batch--> store (filter/, map/) --batch--> numpy arrays
//! ```

mod arguments;
mod batch;
mod columns;
mod common_methods;
mod embedded;
mod errors;
mod expiring;
mod files;
mod filter;
mod key;
mod lock;
mod map;
mod numbers;
mod options;
mod parts;
mod scalars;
mod store;
mod text;

use pyo3::prelude::*;

/// Cuckoo filters: see the package malkoha.
#[pymodule(gil_used = false)]
fn _malkoha(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<filter::PyFilter>()?;
    module.add_class::<map::PyMap>()?;
    module.add_class::<expiring::PyExpiring>()?;
    module.add_class::<text::PyDeduplicator>()?;
    embedded::add_to(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
