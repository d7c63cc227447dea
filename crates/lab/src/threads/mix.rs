//! The work of the threads.

use std::fmt;

use anyhow::{Result, ensure};

use super::Shared;
use crate::keys::{Keys, Present};
use crate::measure::{on_threads, rate};
use crate::subject::{Access, Operation};

/// A share of inserts among lookups, half of which are of keys that are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Inserts, percent.
    inserts: u64,
    /// How full the filter is before and after, percent of the keys that it is built for.
    from: u64,
    to: u64,
}

impl Mix {
    /// Lookups alone, 10, 50 and 100 % inserts.
    pub const ALL: [Self; 4] = [
        Self { inserts: 0, from: 90, to: 90 },
        Self { inserts: 10, from: 70, to: 90 },
        Self { inserts: 50, from: 40, to: 90 },
        Self { inserts: 100, from: 0, to: 90 },
    ];

    /// Fills an empty filter, lets the threads work, and returns million operations per second by
    /// the clock. Keys are made beforehand.
    pub(super) fn run(
        self,
        filter: &dyn Shared,
        keys: u64,
        threads: usize,
        access: Access,
        seed: u64,
    ) -> Result<f64> {
        let names = Keys::new(seed);
        let (from, to) = (keys * self.from / 100, keys * self.to / 100);
        let mut before = vec![0; usize::try_from(from)?];
        names.members(0, &mut before);
        let mut handle = filter.handle();
        let (fill, find) = (handle.fastest(Operation::Insert), handle.fastest(Operation::Find));
        let mut refused = Vec::new();
        handle.insert_all(fill, &before, &mut refused);
        drop(handle);
        ensure!(refused.is_empty(), "refused keys while it was filled");
        let inserts = to - from;
        let lookups = match self.inserts {
            0 => keys,
            100 => 0,
            percent => inserts * (100 - percent) / percent,
        };
        let parts = || 0..threads as u64;
        let part = |total: u64, number: u64| {
            let at = |number| total * number / threads as u64;
            at(number)..at(number + 1)
        };
        let work: Vec<_> = parts()
            .map(|number| {
                let (mine, asked) = (part(inserts, number), part(lookups, number));
                let mut new = vec![0; usize::try_from(mine.end - mine.start)?];
                names.members(from + mine.start, &mut new);
                let mut queries = vec![0; usize::try_from(asked.end - asked.start)?];
                names.queries(Present(50), from.max(1), asked.start, &mut queries);
                Ok((new, queries))
            })
            .collect::<Result<_>>()?;
        let (time, refused) = on_threads(threads, |number| {
            let (inserts, lookups) = &work[number];
            filter.handle().mix(access, inserts, lookups).0
        });
        let refused: usize = refused.iter().sum();
        ensure!(refused == 0, "refused {refused} keys below capacity");
        let mut last = vec![0; usize::try_from(inserts.min(100_000))?];
        names.members(to - last.len() as u64, &mut last);
        let found = filter.handle().find_all(find, &last, &mut vec![false; last.len()]);
        ensure!(found == last.len() as u64, "a key was lost");
        Ok(rate(inserts + lookups, time))
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.inserts {
            0 => f.write_str("lookups"),
            100 => f.write_str("inserts"),
            percent => write!(f, "{percent} % inserts"),
        }
    }
}
