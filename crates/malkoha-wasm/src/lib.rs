//! The library in WebAssembly, for a page or for Node: readers/wasm/malkoha.mjs loads it.
//!
//! ```text
//! cargo build --release -p malkoha-wasm --target wasm32-unknown-unknown
//! ```
//!
//! The caller writes bytes into a buffer of this module and then calls a function on them. The
//! module has one filter, from the last file that was opened.

use std::cell::RefCell;

use malkoha::AnyFilter;

/// Lines whose memory is requested together.
const TOGETHER: usize = 1024;

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    answers: Vec<bool>,
    filter: Option<AnyFilter>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Makes room for `bytes` bytes and returns their address. The old content of the buffer is lost.
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_buffer(bytes: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.buffer.clear();
        state.buffer.resize(bytes, 0);
        state.buffer.as_mut_ptr()
    })
}

/// Opens the file that is in the buffer, whole. Returns 0, or the length of a message in the buffer
/// that says why not.
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_open() -> usize {
    STATE.with_borrow_mut(|state| match AnyFilter::from_bytes(&state.buffer) {
        Ok(filter) => {
            state.filter = Some(filter);
            state.buffer = Vec::new();
            0
        }
        Err(error) => {
            state.filter = None;
            state.buffer = error.to_string().into_bytes();
            state.buffer.len()
        }
    })
}

/// Where the buffer is, for a message in it.
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_message() -> *const u8 {
    STATE.with_borrow(|state| state.buffer.as_ptr())
}

/// How many keys the filter has: exact up to 2^53, and 0 if there is no filter.
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_len() -> f64 {
    STATE.with_borrow(|state| state.filter.as_ref().map_or(0.0, |filter| filter.len() as f64))
}

/// Whether the first `bytes` bytes of the buffer are a key of the filter; not, if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_has(bytes: usize) -> bool {
    STATE.with_borrow(|state| {
        let key = state.buffer.get(..bytes);
        key.zip(state.filter.as_ref()).is_some_and(|(key, filter)| filter.contains(key))
    })
}

/// Looks up each line of the first `bytes` bytes of the buffer. Returns how many there are; what
/// each came to is a byte at [`malkoha_answers`].
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_has_lines(bytes: usize) -> usize {
    STATE.with_borrow_mut(|State { buffer, answers, filter }| {
        answers.clear();
        let (Some(text), Some(filter)) = (buffer.get(..bytes), filter) else { return 0 };
        let hasher = filter.hasher();
        let mut hashes = Vec::with_capacity(TOGETHER);
        let mut ask = |hashes: &mut Vec<u64>| {
            let start = answers.len();
            answers.resize(start + hashes.len(), false);
            filter.contains_hashes(hashes, &mut answers[start..]);
            hashes.clear();
        };
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        for line in text.split(|&byte| byte == b'\n') {
            hashes.push(hasher.hash_bytes(line));
            if hashes.len() == TOGETHER {
                ask(&mut hashes);
            }
        }
        ask(&mut hashes);
        answers.len()
    })
}

/// Where the answers of the last [`malkoha_has_lines`] are: a byte each, 1 for a key of the filter.
#[unsafe(no_mangle)]
pub extern "C" fn malkoha_answers() -> *const bool {
    STATE.with_borrow(|state| state.answers.as_ptr())
}
