//! The module API: all that is `unsafe` is in here.
//!
//! Commands see a [`Context`], [`Args`] and [`Key`]s; values see a `Sink` and a `Source`.
//!
//! # Safety
//!
//! Functions that are `unsafe extern "C"` are callbacks: only the server calls them, with arguments
//! that its module API documents.

mod api;
mod args;
mod arguments;
mod background;
mod config;
mod context;
mod data_type;
mod dispatch;
mod info;
mod io;
mod key;
mod load;
#[cfg(not(test))]
mod memory;
mod metadata;
mod reply;
mod room;
mod tasks;

pub(crate) use args::{Args, Kept};
pub(crate) use background::Given;
pub(crate) use config::{defaults, max_filter_bytes};
pub(crate) use context::Context;
pub(crate) use dispatch::{Entry, dispatch, entry};
pub(crate) use key::Key;
pub(crate) use load::load;
#[cfg(not(test))]
pub(crate) use memory::ServerMemory;
pub(crate) use room::Promised;
pub(crate) use tasks::{PIECE, Step, Task};
