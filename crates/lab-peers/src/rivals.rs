//! The list of rivals.

use cuckoofilter::CuckooFilter;
use lab::subject::Contender;
use rustc_hash::FxHasher;
use std::hash::DefaultHasher;

use crate::looped::contender;
use crate::{cuckoo, growing, others};

/// The false-positive rate asked of those who can be asked: that of the paper's filter.
pub(crate) const FPR: f64 = 0.0019;

/// All of them, each at the setting that suits it best. A new one is one line more.
pub(crate) fn all() -> Vec<Contender> {
    vec![
        contender("cuckoofilter", |n| Ok(CuckooFilter::<DefaultHasher>::with_capacity(n))),
        contender("cuckoofilter-fx", |n| Ok(CuckooFilter::<FxHasher>::with_capacity(n))),
        contender("atomic-cuckoo-fx", cuckoo::atomic),
        contender("subms-cuckoo", |n| Ok(subms_cuckoo_filter::CuckooFilter::with_capacity(n))),
        contender("bloom-lib-cuckoo", cuckoo::bloom_lib),
        contender("sketches-cuckoo", cuckoo::sketches),
        contender("scalable-cuckoo-fx", |n| Ok(growing::scalable(n))),
        contender("autoscale-cuckoo", |n| Ok(growing::autoscale(n))),
        contender("expandable-cuckoo", |n| Ok(growing::expandable(n))),
        contender("qfilter", others::qfilter),
        contender("fastbloom", |n| Ok(others::fastbloom(n))),
        contender("sbbf-blocked-bloom", |n| Ok(others::blocked_bloom(n))),
        contender("growable-bloom", growing::growable_bloom),
    ]
}
