//! Bytes or text as an Arrow array, through the PyCapsule interface.

use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::{mem, ptr};

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::capsule::{ArrowArray, ArrowSchema, Released};

/// Values one after another, some of which are null.
#[derive(Default)]
pub(crate) struct Values {
    bytes: Vec<u8>,
    /// Where each ends. Nulls are empty.
    ends: Vec<i64>,
    /// A bit for each, from the lowest on.
    valid: Vec<u8>,
    nulls: i64,
}

impl Values {
    pub(crate) fn with_capacity(len: usize) -> Self {
        let mut ends = Vec::with_capacity(len + 1);
        ends.push(0);
        Self { ends, valid: vec![0; len.div_ceil(8)], ..Self::default() }
    }

    #[inline]
    pub(crate) fn push(&mut self, value: Option<&[u8]>) {
        let i = self.len();
        match value {
            Some(value) => {
                self.bytes.extend_from_slice(value);
                self.valid[i / 8] |= 1 << (i % 8);
            }
            None => self.nulls += 1,
        }
        // Memory has fewer bytes than an i64 can count.
        self.ends.push(self.bytes.len().cast_signed() as i64);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        let mut start = 0;
        (0..self.len()).map(move |i| {
            let from = mem::replace(&mut start, usize::try_from(self.ends[i + 1]).unwrap_or(0));
            (self.valid[i / 8] >> (i % 8) & 1 == 1).then(|| &self.bytes[from..start])
        })
    }
}

/// The memory that an exported array owns.
struct Shared {
    buffers: [*const c_void; 3],
    _values: Arc<Values>,
}

/// A structure inside a capsule. Taking it out leaves zeros.
#[repr(transparent)]
struct Given<T: Released>(T);

// SAFETY: as for `Owned`.
unsafe impl<T: Released> Send for Given<T> {}

impl<T: Released> Drop for Given<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// # Safety
///
/// The structure is one that `give` made.
unsafe extern "C" fn release_type(schema: *mut ArrowSchema) {
    // SAFETY: the caller's structure. Its format is static.
    unsafe { (*schema).release = None };
}

/// # Safety
///
/// The structure is one that `give` made, and was not released.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the caller's structure, which `give` made, and which is released once.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Shared>()));
        (*array).release = None;
    }
}

/// The capsules of an array of large binary, or of large text if all values are UTF-8.
pub(crate) fn give<'py>(
    py: Python<'py>,
    values: &Arc<Values>,
    is_text: bool,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    const NULLABLE: i64 = 2;
    let format: &CStr = if is_text { c"U" } else { c"Z" };
    let schema = ArrowSchema {
        format: format.as_ptr(),
        name: c"".as_ptr(),
        flags: NULLABLE,
        release: Some(release_type),
        ..Released::zeros()
    };
    let valid = if values.nulls == 0 { ptr::null() } else { values.valid.as_ptr().cast() };
    let buffers = [valid, values.ends.as_ptr().cast(), values.bytes.as_ptr().cast()];
    let shared = Box::into_raw(Box::new(Shared { buffers, _values: Arc::clone(values) }));
    let array = ArrowArray {
        length: values.len().cast_signed() as i64,
        null_count: values.nulls,
        n_buffers: 3,
        // SAFETY: just made.
        buffers: unsafe { &raw mut (*shared).buffers }.cast(),
        release: Some(release_array),
        private_data: shared.cast(),
        ..Released::zeros()
    };
    let schema = PyCapsule::new_with_value(py, Given(schema), c"arrow_schema")?;
    Ok((schema, PyCapsule::new_with_value(py, Given(array), c"arrow_array")?))
}
