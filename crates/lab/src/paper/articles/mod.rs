//! What articles other than the paper say of cuckoo filters, and what their readers replied: each
//! claim with the experiment that tests it.

mod bins;
mod bitmap;
mod checked;
mod churn;
mod sizes;
mod toy;

pub(super) use bins::heaviest;
pub(super) use bitmap::beside_ours;
pub(super) use checked::lost;
pub(super) use churn::rates;
pub(super) use sizes::{any_size, savings};
pub(super) use toy::loads;
