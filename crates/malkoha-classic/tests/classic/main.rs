//! The same tests for every structure, against naive models, theory, and files that lie.

// First, because of its macros.
#[macro_use]
mod support;

mod files;
mod filters;
mod statistics;
mod tables;
