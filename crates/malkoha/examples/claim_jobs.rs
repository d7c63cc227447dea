//! Threads that get the same jobs from several queues do each job once, without a lock of their
//! own.
//!
//! `insert_unique` tests and inserts in one step. If several threads have the same job at the same
//! time, one of them is told that it is new.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use malkoha::{ConcurrentCuckooFilter, InsertError};

const WORKERS: usize = 4;
const JOBS: usize = 100_000;

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    // With this rate, one job in ten million is taken for another one and never done.
    let claimed = ConcurrentCuckooFilter::with_capacity(JOBS as u64, 1e-7)?;
    let runs: Vec<AtomicU32> = (0..JOBS).map(|_| AtomicU32::new(0)).collect();
    let work = || {
        for (job, runs) in runs.iter().enumerate() {
            if claimed.insert_unique(job)? {
                runs.fetch_add(1, Relaxed); // the work
            }
        }
        Ok::<(), InsertError>(())
    };
    thread::scope(|scope| {
        let workers = [(); WORKERS].map(|()| scope.spawn(work));
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panic"))
    })?;

    let done = runs.iter().filter(|runs| runs.load(Relaxed) == 1).count();
    println!("{WORKERS} workers came with {JOBS} jobs each: {done} were done, each once");
    assert!(runs.iter().all(|runs| runs.load(Relaxed) <= 1));
    assert!(done as u64 == claimed.len() && done > JOBS - 10);
    Ok(())
}
