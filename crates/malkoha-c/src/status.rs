//! The return values of functions, and the text of the last error.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use malkoha::{BatchError, BuildError, InsertError, ReadError, UnionError};

/// The result of a function that fails: a negative number. malkoha_error() has the text. Where
/// it succeeds it returns MALKOHA_STATUS_OK, or 1 for yes and 0 for no where it is a question.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// An argument is null or impossible; the text says which.
    Argument = -1,
    /// No room for a key, or a value has too many bits. The filter is unchanged.
    Full = -2,
    /// The file or the bytes are damaged, or no filter.
    Damaged = -3,
    /// The system refused to read or write a file.
    Io = -4,
    /// This kind of filter cannot do that: a set has no values, a mapped one cannot change.
    Kind = -5,
    /// The two filters cannot be united.
    Union = -6,
    /// The system lacks the memory.
    Memory = -7,
    /// A fault of this library. The filter concerned should not be used any more.
    Bug = -8,
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    text: String,
}

impl Failure {
    pub(crate) fn new(status: Status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let status = match error {
            BuildError::Memory { .. } => Status::Memory,
            _ => Status::Argument,
        };
        Self::new(status, error.to_string())
    }
}

impl From<InsertError> for Failure {
    fn from(error: InsertError) -> Self {
        Self::new(Status::Full, error.to_string())
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        Self::new(Status::Full, error.to_string())
    }
}

impl From<UnionError> for Failure {
    fn from(error: UnionError) -> Self {
        let status = match error {
            UnionError::Memory { .. } => Status::Memory,
            _ => Status::Union,
        };
        Self::new(status, error.to_string())
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let status = match error {
            ReadError::Io(_) => Status::Io,
            _ => Status::Damaged,
        };
        Self::new(status, error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(Status::Io, error.to_string())
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function. Any failure becomes its status and the thread's last error.
pub(crate) fn guard(body: impl FnOnce() -> Result<i32, Failure>) -> i32 {
    // The state that a panic leaves is behind a lock, or of a kind that threads share. At worst it
    // is used again, although the contract forbids it.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(answer)) => return answer,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let text = text.unwrap_or("a panic without a text");
            Failure::new(Status::Bug, format!("a fault of malkoha, please report it: {text}"))
        }
    };
    let text = failure.text.replace('\0', "");
    LAST.set(CString::new(text).unwrap_or_default());
    failure.status as i32
}

/// [`guard`] for functions without an answer.
pub(crate) fn done(body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    guard(|| body().map(|()| Status::Ok as i32))
}

/// [`guard`] for questions.
pub(crate) fn asked(body: impl FnOnce() -> Result<bool, Failure>) -> i32 {
    guard(|| body().map(i32::from))
}

/// The text of this thread's last error, and what to do about it. Valid until this thread's next
/// error. Empty if there was none.
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_error() -> *const c_char {
    LAST.with_borrow(|text| text.as_ptr())
}
