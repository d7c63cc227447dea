//! From C's pointers to references and slices: the one place that believes them.
//!
//! Each function checks what can be checked, that nothing is null and that no slice is longer than
//! memory. What it cannot check is its contract: that pointers of C point to what the header says.

use std::ffi::{CStr, c_char};
use std::path::Path;
use std::{ptr, slice};

use crate::status::{Failure, Status};

fn null(name: &str) -> Failure {
    Failure::new(Status::Argument, format!("{name} is null: pass what malkoha.h says"))
}

fn check<T>(first: *const T, count: usize, name: &str) -> Result<(), Failure> {
    if first.is_null() && count > 0 {
        return Err(null(name));
    }
    if count > isize::MAX.unsigned_abs() / size_of::<T>().max(1) {
        let text = format!("{name} cannot have {count} items: memory is smaller than that");
        return Err(Failure::new(Status::Argument, text));
    }
    Ok(())
}

/// # Safety
///
/// `pointer` is null or points to a `T` that lives, and is not changed, for `'a`.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// # Safety
///
/// `pointer` is null or points to a `T` that lives, and that nobody else uses, for `'a`.
pub(crate) unsafe fn exclusive<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// # Safety
///
/// `first` is null, or points to `count` items that live, and are not changed, for `'a`.
pub(crate) unsafe fn items<'a, T>(
    first: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Failure> {
    check(first, count, name)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller's contract; `first` is not null and the size does not overflow.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// Room for answers. It may hold anything, and is set to zero first, so that it can be a slice.
///
/// # Safety
///
/// `first` is null, or points to room for `count` items that nobody else uses for `'a`. A `T` may
/// be all zeros.
pub(crate) unsafe fn answers<'a, T: Copy>(
    first: *mut T,
    count: usize,
    name: &str,
) -> Result<&'a mut [T], Failure> {
    check(first, count, name)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: the caller's contract; `first` is not null and the size does not overflow.
    unsafe {
        ptr::write_bytes(first, 0, count);
        Ok(slice::from_raw_parts_mut(first, count))
    }
}

/// # Safety
///
/// `to` is null or points to room for a `T`.
pub(crate) unsafe fn answer<T>(to: *mut T, value: T, name: &str) -> Result<(), Failure> {
    if to.is_null() {
        return Err(null(name));
    }
    // SAFETY: the caller's contract.
    unsafe { to.write(value) };
    Ok(())
}

/// # Safety
///
/// `text` is null, or points to bytes that end with a 0, and live unchanged for `'a`.
pub(crate) unsafe fn path<'a>(text: *const c_char) -> Result<&'a Path, Failure> {
    if text.is_null() {
        return Err(null("path"));
    }
    // SAFETY: the caller's contract.
    let bytes = unsafe { CStr::from_ptr(text) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        Ok(Path::new(std::ffi::OsStr::from_bytes(bytes.to_bytes())))
    }
    #[cfg(not(unix))]
    bytes
        .to_str()
        .map(Path::new)
        .map_err(|_| Failure::new(Status::Argument, "path is not UTF-8: write it so"))
}
