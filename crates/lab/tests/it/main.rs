//! Tests of the lab.

mod bench;
mod lines;
mod report;
mod sources;
