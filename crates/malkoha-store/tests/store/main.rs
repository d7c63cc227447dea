//! The store on real files, and on simulated ones that crash.

mod operations;
mod support;
