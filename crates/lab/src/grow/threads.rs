//! Threads that insert into one growing set or map.

use anyhow::{Result, ensure};

use super::{Run, SHARED_MAP, SHARED_SET, Way};
use crate::measure::{alternating, on_threads, rate};
use crate::subject::{Access, Subject};

const WAYS: [Way; 3] = [
    Way { name: "one by one", access: Access::Single, batch: 1024 },
    Way { name: "batches of 1,024", access: Access::Many, batch: 1024 },
    Way { name: "batches of 65,536", access: Access::Many, batch: 65_536 },
];

impl Run<'_> {
    pub(super) fn threads(&mut self) -> Result<()> {
        let args = self.args;
        let fpr = self.fpr;
        if args.wants(SHARED_SET) {
            self.share(SHARED_SET, || args.shared_set(args.start, fpr))?;
        }
        if args.wants(SHARED_MAP) {
            self.share(SHARED_MAP, || args.shared_map(args.start, fpr))?;
        }
        let of_way = |name: &str| {
            let column = move |threads: &usize| column(name, *threads);
            args.threads.iter().map(column).chain([gain(name)]).collect::<Vec<_>>()
        };
        let columns: Vec<String> = WAYS.iter().flat_map(|way| of_way(way.name)).collect();
        let title = self.title("Million inserts per second by threads, in all");
        print!("{}", self.figures.by_size(&title, &columns));
        Ok(())
    }

    fn share<T: Sync>(&mut self, name: &str, make: impl Fn() -> Result<T>) -> Result<()>
    where
        for<'a> &'a T: Subject,
    {
        let args = self.args;
        for &keys in &args.keys {
            for run in 0..args.runs {
                for way in WAYS {
                    let mut rates = vec![0.0; args.threads.len()];
                    for turn in alternating(rates.len(), run) {
                        let threads = args.threads[turn];
                        rates[turn] = self.inserts(&make()?, keys, threads, way)?;
                        let column = column(way.name, threads);
                        self.figures.add(name, keys, &column, "M/s", rates[turn]);
                    }
                    if let [first, .., last] = rates[..] {
                        self.figures.add(name, keys, &gain(way.name), "of the first", last / first);
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets threads insert an equal part each; returns million keys per second by the clock.
    fn inserts<T: Sync>(&self, filter: &T, keys: u64, threads: usize, way: Way) -> Result<f64>
    where
        for<'a> &'a T: Subject,
    {
        let mut all = vec![0; usize::try_from(keys)?];
        self.args.keys().members(0, &mut all);
        let (time, _) = on_threads(threads, |number| {
            let part = all.len() * number / threads..all.len() * (number + 1) / threads;
            let (mut handle, mut refused) = (filter, Vec::new());
            let parts = all[part].chunks(way.batch);
            parts.for_each(|keys| handle.insert_all(way.access, keys, &mut refused));
        });
        let found = (&filter).find_all(Access::Many, &all, &mut vec![false; all.len()]);
        ensure!(found == keys, "threads lost {} of {keys} keys", keys - found);
        Ok(rate(keys, time))
    }
}

fn column(way: &str, threads: usize) -> String {
    format!("{way}, {threads}")
}

fn gain(way: &str) -> String {
    format!("{way}, gain")
}
