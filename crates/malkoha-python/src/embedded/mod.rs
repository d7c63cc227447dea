//! The embedded store. `python/malkoha/_store.py` makes mappings of these classes.
//!
//! Operations on many keys, and all writes, detach from the interpreter. A lookup of one key stays
//! attached: it takes less time than detaching and attaching again while other threads compute.

mod batch;
mod entries;
mod handle;
mod many;
mod object;
mod snapshot;
mod store;
mod table;
mod view;

use pyo3::prelude::*;

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<table::PyTable>()?;
    module.add_class::<store::PyStore>()?;
    module.add_class::<batch::PyBatch>()?;
    module.add_class::<snapshot::PySnapshot>()?;
    module.add_class::<entries::PyEntries>()?;
    module.add_class::<many::PyValues>()?;
    module.add_function(wrap_pyfunction!(handle::forked, module)?)?;
    module.add_function(wrap_pyfunction!(handle::close_all, module)?)
}
