//! One logical filter over many keys of a server or a cluster that has the module.
//!
//! ```text
//! lines --lines, shards--> requests --exchange--> packed commands --cluster, node--> replies
//! ```

mod cluster;
mod exchange;
mod lines;
mod node;
mod request;
mod shards;

pub(crate) use cluster::Cluster;
pub(crate) use lines::Changes;
pub(crate) use request::Policy;
pub(crate) use shards::{Shape, Shards, Sums};
