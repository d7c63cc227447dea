//! Measures cuckoo filters and what the machine allows, with every answer checked.
//!
//! A [`Contender`](subject::Contender) makes a [`Subject`](subject::Subject); [`workload::run`]
//! gives all of them the same work in one process, alternating; [`report`] prints the medians and
//! writes them to files. Other people's filters are contenders in the crate `lab-peers`.

pub mod args;
pub mod builds;
pub mod classic;
pub mod fill;
mod filters;
pub mod grow;
pub mod latency;
pub mod limit;
pub mod machine;
pub mod maps;
pub mod measure;
pub mod ours;
pub mod page;
pub mod paper;
pub mod peer;
pub mod report;
pub mod results;
pub mod space;
pub mod subject;
pub mod threads;
pub mod workload;
mod zipf;

pub use lab_keys as keys;

/// The pages of `docs/guide`, whose programs are compiled and run as tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/which.md")]
    mod which {}
    #[doc = include_str!("../../../docs/guide/sizing.md")]
    mod sizing {}
    #[doc = include_str!("../../../docs/guide/deleting.md")]
    mod deleting {}
    #[doc = include_str!("../../../docs/guide/growing.md")]
    mod growing {}
    #[doc = include_str!("../../../docs/guide/hostile-keys.md")]
    mod hostile_keys {}
    #[doc = include_str!("../../../docs/guide/operations.md")]
    mod operations {}
}
