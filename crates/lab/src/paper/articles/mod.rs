//! What articles say of cuckoo filters beside the paper, and what readers answered: each claim with
//! the experiment that answers it.

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
