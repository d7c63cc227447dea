//! From what Python asks for to a filter or map.

use malkoha::{Builder, HashFunction, KeyHasher, Layout};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{BuildError, Raise};
use crate::lock::Lock;
use crate::store::{BUCKETED, Kinds, Store};

/// The arguments of a constructor that say what to build.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) capacity: Option<u64>,
    pub(crate) fpr: f64,
    pub(crate) growable: bool,
    pub(crate) shared: bool,
    pub(crate) growth: Option<f64>,
    pub(crate) layout: Option<Layout>,
    pub(crate) value_bits: Option<u32>,
    pub(crate) ttl: Option<u64>,
    pub(crate) resolution: Option<u64>,
    pub(crate) hasher: KeyHasher,
}

impl Options {
    pub(crate) fn build<C: Kinds>(&self, py: Python<'_>) -> PyResult<Store<C>> {
        if self.shared && !self.growable {
            return Err(PyTypeError::new_err(
                "a shared filter grows: leave growable out, or give growth=1 to build it for no \
                 more than its capacity",
            ));
        }
        if self.capacity.is_none() && !self.growable {
            return Err(BuildError::new_err(
                "this kind of filter is built for a capacity: give the number of keys",
            ));
        }
        let build = || match (self.growable, self.shared) {
            (true, true) => self.builder::<C::Shared>().build().map(Store::Shared),
            (true, false) => {
                self.builder::<C::Growable>().build().map(Lock::new).map(Store::Growable)
            }
            (false, _) => {
                C::build_fixed(self.builder(), self.layout).map(Lock::new).map(Store::Fixed)
            }
        };
        py.detach(build).map_err(Raise::raise)
    }

    fn builder<F>(&self) -> Builder<F> {
        let mut builder = Builder::new().fpr(self.fpr).with_hasher(self.hasher);
        if let Some(capacity) = self.capacity {
            builder = builder.capacity(capacity);
        }
        if let Some(growth) = self.growth {
            builder = builder.growth(growth);
        }
        if let Some(bits) = self.value_bits {
            builder = builder.value_bits(bits);
        }
        if let Some(ttl) = self.ttl {
            builder = builder.expire_after(ttl);
        }
        if let Some(step) = self.resolution {
            builder = builder.resolution(step);
        }
        builder
    }
}

/// The layout of a name that the command gives it too.
pub(crate) fn layout(name: Option<&str>, growable: bool) -> PyResult<Option<Layout>> {
    let Some(name) = name else { return Ok(None) };
    if growable {
        return Err(PyTypeError::new_err(
            "a filter that grows has a layout of its own: give growable=False",
        ));
    }
    let all = [BUCKETED, Layout::GapWindows, Layout::SemiSorted, Layout::Words];
    all.into_iter().find(|layout| layout.name() == name).map(Some).ok_or_else(|| {
        let names = all.map(Layout::name).join(", ");
        PyValueError::new_err(format!("no layout has the name {name:?}: give one of {names}"))
    })
}

/// The hash that `seed` or `key` ask for.
pub(crate) fn hasher(seed: Option<u64>, key: Option<&[u8]>) -> PyResult<KeyHasher> {
    match (seed, key) {
        (_, None) => Ok(KeyHasher::new(seed.unwrap_or(0))),
        (None, Some(key)) => {
            key.try_into().map(u128::from_le_bytes).map(KeyHasher::sip13).map_err(|_| {
                PyValueError::new_err(format!(
                    "a key of the hash has 16 bytes, this one {}: take secrets.token_bytes(16)",
                    key.len()
                ))
            })
        }
        (Some(_), Some(_)) => Err(PyTypeError::new_err("give a seed or a key, not both")),
    }
}

/// The key of a hash that has one.
pub(crate) fn key(hasher: KeyHasher, py: Python<'_>) -> Option<Bound<'_, PyBytes>> {
    let is_keyed = hasher.function() == HashFunction::Sip13;
    is_keyed.then(|| PyBytes::new(py, &hasher.key().to_le_bytes()))
}
