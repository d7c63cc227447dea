//! The Arrow C data interface: its three structures, as its specification has them, and what owns
//! them. <https://arrow.apache.org/docs/format/CDataInterface.html>

use std::ffi::{CStr, c_char, c_int, c_void};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

#[repr(C)]
pub(super) struct ArrowSchema {
    pub(super) format: *const c_char,
    pub(super) name: *const c_char,
    pub(super) metadata: *const c_char,
    pub(super) flags: i64,
    pub(super) n_children: i64,
    pub(super) children: *mut *mut Self,
    pub(super) dictionary: *mut Self,
    pub(super) release: Option<unsafe extern "C" fn(*mut Self)>,
    pub(super) private_data: *mut c_void,
}

#[repr(C)]
pub(super) struct ArrowArray {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) n_buffers: i64,
    pub(super) n_children: i64,
    pub(super) buffers: *mut *const c_void,
    pub(super) children: *mut *mut Self,
    pub(super) dictionary: *mut Self,
    pub(super) release: Option<unsafe extern "C" fn(*mut Self)>,
    pub(super) private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Self, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Self) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// A structure of the interface, which is released by its owner.
///
/// # Safety
///
/// All zeros are a value of it, one that is released.
pub(super) unsafe trait Released: Sized {
    /// One that is released already: zeros, as the interface says.
    fn zeros() -> Self {
        // SAFETY: by the trait.
        unsafe { std::mem::zeroed() }
    }

    fn is_released(&self) -> bool;

    fn release(&mut self);
}

macro_rules! released {
    ($($type:ty),*) => {$(
        // SAFETY: its fields are integers, pointers and optional functions; without the function
        // that releases it, it is released.
        unsafe impl Released for $type {
            fn is_released(&self) -> bool {
                self.release.is_none()
            }

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the producer gave this function to be called once with the
                    // structure, and sets it to null meanwhile.
                    unsafe { release(self) };
                }
            }
        }
    )*};
}
released!(ArrowSchema, ArrowArray, ArrowArrayStream);

/// Owns a structure, at an address that stays.
pub(super) struct Owned<T: Released>(Box<T>);

// SAFETY: the interface lets a structure be moved between threads, and be read and released on any.
unsafe impl<T: Released> Send for Owned<T> {}
// SAFETY: shared references only read what the producer promises not to change.
unsafe impl<T: Released> Sync for Owned<T> {}

impl<T: Released> Owned<T> {
    fn released() -> Self {
        Self(Box::new(T::zeros()))
    }

    /// Takes the structure out of a capsule of this name, which is left released.
    fn take(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<Self> {
        let at = capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast::<T>();
        // SAFETY: by its name the capsule holds such a structure. It is moved out, as the interface
        // allows, and marked as released below, so that the capsule does not release it again.
        let owned = Self(Box::new(unsafe { at.as_ptr().read() }));
        // SAFETY: zeros are a released structure, and the capsule still owns the memory.
        unsafe { at.as_ptr().write_bytes(0, 1) };
        if owned.is_released() {
            return Err(PyValueError::new_err("the Arrow data was handed over before"));
        }
        Ok(owned)
    }
}

impl<T: Released> std::ops::Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Released> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// An array and its type.
pub(super) fn array(
    schema: &Bound<'_, PyAny>,
    array: &Bound<'_, PyAny>,
) -> PyResult<(Owned<ArrowSchema>, Owned<ArrowArray>)> {
    Ok((Owned::take(schema, c"arrow_schema")?, Owned::take(array, c"arrow_array")?))
}

/// The type of a stream's arrays, and all of them.
pub(super) fn stream(
    capsule: &Bound<'_, PyAny>,
) -> PyResult<(Owned<ArrowSchema>, Vec<Owned<ArrowArray>>)> {
    let mut stream = Owned::<ArrowArrayStream>::take(capsule, c"arrow_array_stream")?;
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return Err(PyValueError::new_err("the Arrow stream lacks its functions"));
    };
    let at = &raw mut *stream.0;
    let mut schema = Owned::<ArrowSchema>::released();
    // SAFETY: the stream is not released, and there is room for the type.
    let status = unsafe { get_schema(at, &raw mut *schema.0) };
    stream.check(status)?;
    let mut arrays = Vec::new();
    loop {
        let mut array = Owned::<ArrowArray>::released();
        // SAFETY: the stream is not released, and there is room for an array.
        let status = unsafe { get_next(&raw mut *stream.0, &raw mut *array.0) };
        stream.check(status)?;
        if array.is_released() {
            return Ok((schema, arrays));
        }
        arrays.push(array);
    }
}

impl Owned<ArrowArrayStream> {
    /// An exception with the stream's message, if this is not the status of a success.
    fn check(&mut self, status: c_int) -> PyResult<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the stream is not released, and its last call failed.
        let message = self.get_last_error.map(|last| unsafe { last(&raw mut *self.0) });
        let message = match message {
            Some(message) if !message.is_null() => {
                // SAFETY: by the interface it is a string, which lives until the next call.
                unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
            }
            _ => format!("it gives the error number {status}"),
        };
        Err(PyValueError::new_err(format!("the Arrow stream cannot be read: {message}")))
    }
}
