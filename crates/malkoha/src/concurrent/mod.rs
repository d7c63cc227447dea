//! Many threads on one filter.

mod batch;
mod bucket;
mod convert;
mod counter;
mod insert;
mod locks;
mod shared;
mod space;
mod sync;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use locks::{
    ElidedMcsLock, Global, Lock, Locking, McsLock, NoLock, ParkingLock, Rtm, Status, Striped,
    Transactions,
};
pub use shared::Shared;
pub(crate) use space::plan as plan_growing;
pub use space::{Fixed as OnePiece, Growing as InParts, Space};
