//! Measures cuckoo filters and what the machine allows, with every answer checked.
//!
//! A [`Contender`](subject::Contender) makes a [`Subject`](subject::Subject); [`workload::run`]
//! gives all of them the same work in one process, alternating; [`report`] prints the medians and
//! writes them to files. Other people's filters are contenders in the crate `lab-peers`.

pub mod args;
pub mod bench;
pub mod classic;
mod filters;
pub mod grow;
pub mod machine;
mod maps;
pub mod measure;
pub mod ours;
pub mod paper;
pub mod peer;
pub mod plots;
pub mod report;
pub mod results;
pub mod soak;
pub mod space;
pub mod subject;
pub mod texts;
pub mod threads;
pub mod workload;

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
