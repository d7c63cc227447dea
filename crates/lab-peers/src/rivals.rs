//! The list of rivals.

use cuckoofilter::CuckooFilter;
use lab::subject::Contender;
use rustc_hash::FxHasher;
use std::hash::DefaultHasher;

use crate::looped::contender;
use crate::{cuckoo, growing, others};

/// The false-positive rate of the paper's filter, that the speeds are measured at. A little more
/// than 0.19 %, so that those who round to whole bits upwards take as many as the others.
pub(crate) const FPR: f64 = 0.002;

/// All of them, each at the setting that suits it best, asked for this false-positive rate where
/// they can be asked. A new one is one line more.
pub(crate) fn all(fpr: f64) -> Vec<Contender> {
    vec![
        contender("cuckoofilter", |n| Ok(CuckooFilter::<DefaultHasher>::with_capacity(n))),
        contender("cuckoofilter-fx", |n| Ok(CuckooFilter::<FxHasher>::with_capacity(n))),
        contender("atomic-cuckoo-fx", move |n| cuckoo::atomic(n, fpr)),
        contender("subms-cuckoo", |n| Ok(subms_cuckoo_filter::CuckooFilter::with_capacity(n))),
        contender("bloom-lib-cuckoo", cuckoo::bloom_lib),
        contender("sketches-cuckoo", move |n| cuckoo::sketches(n, fpr)),
        contender("scalable-cuckoo-fx", move |n| Ok(growing::scalable(n, fpr))),
        contender("autoscale-cuckoo", move |n| Ok(growing::autoscale(n, fpr))),
        contender("expandable-cuckoo", |n| Ok(growing::expandable(n))),
        contender("qfilter", move |n| others::qfilter(n, fpr)),
        contender("fastbloom", move |n| Ok(others::fastbloom(n, fpr))),
        contender("sbbf-blocked-bloom", move |n| Ok(others::blocked_bloom(n, fpr))),
        contender("growable-bloom", move |n| growing::growable_bloom(n, fpr)),
    ]
}

/// Those that grow, each built for `start` keys whatever comes.
pub(crate) fn growing(start: usize, fpr: f64) -> Vec<Contender> {
    vec![
        contender("scalable-cuckoo-fx", move |_| Ok(growing::scalable(start, fpr))),
        contender("autoscale-cuckoo", move |_| Ok(growing::autoscale(start, fpr))),
        contender("expandable-cuckoo", move |_| Ok(growing::expandable(start))),
        contender("qfilter", move |_| others::growing_qfilter(start, fpr)),
        contender("growable-bloom", move |_| growing::growable_bloom(start, fpr)),
    ]
}
