//! The module API: `unsafe` is in here, and where `lib.rs` loads the module.
//!
//! Commands see a [`Context`], [`Args`] and [`Key`]s; values see a `Sink` and a `Source`.
//!
//! # Safety
//!
//! Functions that are `unsafe extern "C"` are callbacks: only the server calls them, with arguments
//! that its module API documents.

/// Calls a function of the server, which fills them in when it loads the module. Only inside
/// `unsafe`: the arguments must be what it expects.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // Written once, before any callback can run, by the only thread there is then.
        (valkey_module::raw::$name.expect(concat!("the server has ", stringify!($name))))(
            $($argument),*
        )
    };
}

/// Whether the server has a function: old servers lack some.
macro_rules! has {
    ($name:ident) => {{
        // SAFETY: written once, before any callback can run; a plain word is read.
        let function = unsafe { valkey_module::raw::$name };
        function.is_some()
    }};
}

mod background;
mod config;
mod context;
mod data_type;
mod dispatch;
mod io;
mod key;
mod load;
#[cfg(not(test))]
mod memory;
mod metadata;
mod room;
mod tasks;

pub(crate) use background::Given;
pub(crate) use config::{defaults, max_filter_bytes};
pub(crate) use context::Context;
pub(crate) use dispatch::{Entry, dispatch, entry};
pub(crate) use key::{Args, Key, RetainedString};
pub(crate) use load::load;
#[cfg(not(test))]
pub(crate) use memory::ServerMemory;
pub(crate) use room::Promised;
pub(crate) use tasks::{PIECE, Step, Task};
