//! Inserts in several ways, churn and lookups: million keys per second at each size.

use std::time::Duration;

use anyhow::Result;

use super::growth::Growth;
use super::{Run, Way};
use crate::measure::{alternating, rate, timed};
use crate::subject::{Access, Contender, Operation};

const WAYS: [Way; 3] = [
    Way { name: "one by one", access: Access::Single, batch: BATCH },
    Way { name: "batches of 1,024", access: Access::Many, batch: BATCH },
    Way { name: "unique, 65,536", access: Access::Unique, batch: 65_536 },
];
const ALL: &str = "one batch";
const CHURN: [(&str, Access); 2] = [("churn", Access::Single), ("churn, 1,024", Access::Many)];
const GET: [(&str, Access); 2] = [("get", Access::Single), ("get, 1,024", Access::Many)];
const BATCH: usize = 1024;
/// Pairs of a churn and lookups, at most.
const PAIRS: u64 = 1 << 20;
const LOOKUPS: u64 = 4_000_000;
const SPACE: &str = "bits/key";

impl Run<'_> {
    pub(super) fn speed(&mut self, contenders: &[Contender]) -> Result<()> {
        for run in 0..self.args.runs {
            for turn in alternating(contenders.len(), run) {
                let contender = &contenders[turn];
                for way in WAYS {
                    self.grow(contender, way)?;
                }
                self.at_once(contender)?;
            }
        }
        let title = self.title("Million keys per second");
        let ways = [WAYS.map(|way| way.name).to_vec(), vec![ALL], CHURN.map(|way| way.0).to_vec()];
        let columns = [ways.concat(), GET.map(|way| way.0).to_vec(), vec![SPACE, "lost"]].concat();
        print!("{}", self.figures.by_size(&title, &columns));
        Ok(())
    }

    /// Grows through all sizes in one way. A size's rate is that of all keys up to it. The first
    /// way is followed by churn and lookups at each size.
    fn grow(&mut self, contender: &Contender, way: Way) -> Result<()> {
        let Way { name, access, batch } = way;
        let mut growth = Growth::new(contender, self.args, batch)?;
        if !growth.subject.can(Operation::Insert, access) {
            return Ok(());
        }
        let mut time = Duration::ZERO;
        for &keys in &self.args.keys {
            growth.to(keys, |subject, batch, refused| {
                timed(&mut time, || subject.insert_all(access, batch, refused));
            });
            self.figures.add(&contender.name, keys, name, "M/s", rate(keys, time));
            if access == Access::Single {
                let space = growth.bits_per_key();
                self.figures.add(&contender.name, keys, SPACE, "bits", space);
                self.get(contender, keys, &mut growth);
                self.churn(contender, keys, &mut growth);
            }
            let lost = growth.lost();
            self.check(contender, keys, lost);
        }
        Ok(())
    }

    fn get(&mut self, contender: &Contender, keys: u64, growth: &mut Growth) {
        let lookups = LOOKUPS.min(8 * keys);
        for (name, access) in GET {
            if growth.subject.can(Operation::Find, access) {
                let mut time = Duration::ZERO;
                growth.absent(lookups, |subject, batch, found| {
                    timed(&mut time, || subject.find_all(access, batch, found))
                });
                self.figures.add(&contender.name, keys, name, "M/s", rate(lookups, time));
            }
        }
    }

    fn churn(&mut self, contender: &Contender, keys: u64, growth: &mut Growth) {
        for (name, access) in CHURN {
            let can = |operation| growth.subject.can(operation, access);
            if can(Operation::Insert) && can(Operation::Remove) {
                let (mut time, mut refused) = (Duration::ZERO, Vec::new());
                let pairs = PAIRS.min(keys / 2);
                growth.churn(pairs, |subject, out, new| {
                    timed(&mut time, || {
                        subject.remove_all(access, out);
                        subject.insert_all(access, new, &mut refused);
                    });
                });
                self.figures.add(&contender.name, keys, name, "M/s", rate(2 * pairs, time));
            }
        }
    }

    /// Each size in one batch.
    fn at_once(&mut self, contender: &Contender) -> Result<()> {
        for &keys in &self.args.keys {
            let mut growth = Growth::new(contender, self.args, usize::try_from(keys)?)?;
            if !growth.subject.can(Operation::Insert, Access::Many) {
                break;
            }
            let mut time = Duration::ZERO;
            growth.to(keys, |subject, batch, refused| {
                timed(&mut time, || subject.insert_all(Access::Many, batch, refused));
            });
            self.figures.add(&contender.name, keys, ALL, "M/s", rate(keys, time));
            let lost = growth.lost();
            self.check(contender, keys, lost);
        }
        Ok(())
    }
}
