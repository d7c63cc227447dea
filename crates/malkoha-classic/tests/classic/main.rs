//! The same tests for every structure, against naive models, and theory.

// First, because of its macros.
#[macro_use]
mod support;

mod filters;
mod statistics;
mod tables;
