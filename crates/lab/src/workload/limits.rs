//! The memory's limit, taken between the lookups on tables of the contenders' sizes.

use std::time::Duration;

use anyhow::Result;

use super::{Filled, Workload};
use crate::limit::writes::partitioned;
use crate::limit::{Access, Table};
use crate::measure::{rate, timed};
use crate::results::RATE;

/// Sizes that differ by less than this share one table.
const SAME_SIZE: f64 = 1.1;

/// A table for every size there is.
#[derive(Default)]
pub(super) struct Limits {
    tables: Vec<Table>,
    /// The table of each contender.
    pub(super) of: Vec<usize>,
}

impl Limits {
    pub(super) fn new(filled: &[Filled]) -> Result<Self> {
        let mut limits = Self::default();
        for filled in filled {
            let bytes = filled.subject.bytes();
            let like = |table: &Table| {
                let ratio = table.bytes() as f64 / bytes as f64;
                (1.0 / SAME_SIZE..SAME_SIZE).contains(&ratio)
            };
            let table = limits.tables.iter().position(like);
            if table.is_none() {
                limits.tables.push(Table::new(bytes)?);
            }
            limits.of.push(table.unwrap_or(limits.tables.len() - 1));
        }
        Ok(limits)
    }
}

impl Workload<'_> {
    /// How fast keys are sorted by segment and written to tables of these sizes, and the builds as
    /// shares of it.
    pub(super) fn writes(&mut self, limits: &Limits) -> Result<()> {
        let mut rates = Vec::new();
        for table in &limits.tables {
            let mut time = Duration::ZERO;
            timed(&mut time, || partitioned(&self.all, table.bytes()))?;
            rates.push(rate(self.settings.keys, time));
            let (keys, name) = (self.settings.keys, name(table));
            self.figures.add(&name, keys, "limit, partitioned writes", RATE, rate(keys, time));
        }
        for contender in 0..self.contenders.len() {
            let builds = self.figures.runs(&self.contenders[contender].name, "build");
            if let Some(build) = builds.last() {
                let share = build / rates[limits.of[contender]];
                self.record(contender, "build, of the limit", "share", share);
            }
        }
        Ok(())
    }

    /// Million steps per second that the memory allows on each table: in a plain loop, and with the
    /// prefetches that suit it best.
    pub(super) fn limits(&mut self, limits: &Limits, run: u32) -> Vec<[f64; 2]> {
        // There are many kinds of access; a quarter of the steps is enough for each.
        let steps = (self.settings.lookups / 4).max(1);
        let mut all = Vec::new();
        for table in &limits.tables {
            let mut most = [0.0_f64; 2];
            for access in Access::all() {
                let first = u64::from(run) * steps;
                let rate = table.rate(access, self.keys, first, steps, &mut self.batch);
                let most = &mut most[usize::from(access.is_prefetched())];
                *most = most.max(rate);
            }
            let name = name(table);
            for (measure, rate) in ["limit, loop", "limit, prefetched"].into_iter().zip(most) {
                self.figures.add(&name, self.settings.keys, measure, RATE, rate);
            }
            all.push(most);
        }
        all
    }
}

fn name(table: &Table) -> String {
    format!("memory, {:.1} MB", table.bytes() as f64 / 1e6)
}
