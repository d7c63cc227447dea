//! The memory's limit, taken between the lookups on tables of the contenders' sizes.

use anyhow::Result;

use super::{Filled, Workload};
use crate::limit::{Access, Table};
use crate::results::Measure;

/// Sizes that differ by less than this share one table.
const SAME_SIZE: f64 = 1.1;

pub(super) struct LimitTable {
    /// Its index among the names of the results.
    name: usize,
    table: Table,
}

impl Workload<'_> {
    /// One table, with huge pages as ours have them, for every size there is.
    pub(super) fn limit_tables(&mut self, filled: &[Filled]) -> Result<Vec<LimitTable>> {
        let mut limits: Vec<LimitTable> = Vec::new();
        for (contender, filled) in filled.iter().enumerate() {
            let bytes = filled.subject.bytes();
            let like = |limit: &&LimitTable| {
                let ratio = limit.table.bytes() as f64 / bytes as f64;
                (1.0 / SAME_SIZE..SAME_SIZE).contains(&ratio)
            };
            let name = if let Some(limit) = limits.iter().find(like) {
                limit.name
            } else {
                let name = self.results.names.len();
                self.results.names.push(format!("memory, {:.1} MB", bytes as f64 / 1e6));
                limits.push(LimitTable { name, table: Table::new(bytes, true)? });
                name
            };
            self.results.limits.insert(contender, name);
        }
        Ok(limits)
    }

    pub(super) fn take_limits(&mut self, limits: &[LimitTable], run: u32) {
        // There are many kinds of access; a quarter of the steps is enough for each.
        let steps = (self.settings.lookups / 4).max(1);
        for limit in limits {
            for access in Access::of_lookups() {
                let first = u64::from(run) * steps;
                let rate = limit.table.rate(access, self.keys, first, steps, &mut self.batch);
                self.results.record(limit.name, Measure::Limit(access), rate);
            }
        }
    }
}
