//! The library's errors as Python exceptions, with its messages. Their classes are defined in
//! python/malkoha/_errors.py, since each has two bases.

use std::io;
use std::path::Path;

use malkoha::{BuildError as Build, InsertError as Insert};
use malkoha::{ReadError as Read, UnionError as Unite};
use malkoha_store::Error as Failed;
use pyo3::exceptions::{PyOSError, PyPermissionError};
use pyo3::prelude::*;

use malkoha_text::{OptionsError, UniteError};

pyo3::import_exception!(malkoha._errors, BuildError);
pyo3::import_exception!(malkoha._errors, InsertError);
pyo3::import_exception!(malkoha._errors, ReadError);
pyo3::import_exception!(malkoha._errors, ReadOnlyError);
pyo3::import_exception!(malkoha._errors, StoreClosedError);
pyo3::import_exception!(malkoha._errors, StoreDamagedError);
pyo3::import_exception!(malkoha._errors, StoreError);
pyo3::import_exception!(malkoha._errors, StoreFullError);
pyo3::import_exception!(malkoha._errors, StoreLockedError);
pyo3::import_exception!(malkoha._errors, StoreNotFoundError);
pyo3::import_exception!(malkoha._errors, StoreValueError);
pyo3::import_exception!(malkoha._errors, TableNotFoundError);
pyo3::import_exception!(malkoha._errors, UnionError);

/// An error as the exception of its family.
pub(crate) trait Raise {
    fn raise(self) -> PyErr;
}

impl Raise for Build {
    fn raise(self) -> PyErr {
        BuildError::new_err(self.to_string())
    }
}

impl Raise for Insert {
    #[cold]
    fn raise(self) -> PyErr {
        InsertError::new_err(self.to_string())
    }
}

impl Raise for Unite {
    fn raise(self) -> PyErr {
        UnionError::new_err(self.to_string())
    }
}

impl Raise for OptionsError {
    fn raise(self) -> PyErr {
        BuildError::new_err(self.to_string())
    }
}

impl Raise for UniteError {
    fn raise(self) -> PyErr {
        UnionError::new_err(self.to_string())
    }
}

impl Raise for Read {
    fn raise(self) -> PyErr {
        match self {
            Self::Io(error) => error.into(),
            other => ReadError::new_err(other.to_string()),
        }
    }
}

impl Raise for Failed {
    #[cold]
    fn raise(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Io { file, source, .. } => with_path(source, file.as_ref()),
            Self::NotWritable { source, .. } => {
                PyPermissionError::new_err((source.raw_os_error(), message))
            }
            Self::ReadOnly => ReadOnlyError::new_err(message),
            Self::NoSpace { .. } => StoreFullError::new_err(message),
            Self::Locked | Self::OpenAlready => StoreLockedError::new_err(message),
            Self::NoStore(_) => StoreNotFoundError::new_err(message),
            Self::NoTable(_) | Self::TableRemoved => TableNotFoundError::new_err(message),
            Self::Damaged { file, offset, .. } => {
                StoreDamagedError::new_err((message, file, offset))
            }
            Self::Version { file, .. } => StoreDamagedError::new_err((message, file, 8)),
            Self::UnfinishedBackup => StoreDamagedError::new_err(message),
            Self::KeyTooLong(_)
            | Self::ValueTooLong(_)
            | Self::BatchTooLong(_)
            | Self::Option(_)
            | Self::Order(_) => StoreValueError::new_err(message),
            _ => StoreError::new_err(message),
        }
    }
}

/// Refused because the filter lies in a mapped file.
pub(crate) fn read_only() -> PyErr {
    ReadOnlyError::new_err(
        "the table lies in a mapped file and cannot change: copy() it into memory, or load() it",
    )
}

/// The exception of a failed call of the system, with the name of the file.
pub(crate) fn with_path(error: io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            // Python puts the number before it.
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, text, path.as_os_str().to_owned()))
        }
        None => io::Error::new(error.kind(), format!("{error}: {}", path.display())).into(),
    }
}
