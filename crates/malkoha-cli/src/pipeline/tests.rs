//! Blocks of several sources, with any number of threads and any room for results.

use anyhow::bail;

use super::*;

/// Some numbers, a block each, and then perhaps an error, or a panic after an odd one.
struct Numbers(Vec<u32>, bool);

impl Source for Numbers {
    type Block = u32;

    fn next(&mut self, block: &mut u32) -> Result<bool> {
        match self.0.pop() {
            Some(number) => *block = number,
            None if self.1 && block.is_multiple_of(2) => bail!("no more"),
            None if self.1 => panic!("no more"),
            None => return Ok(false),
        }
        Ok(true)
    }
}

#[derive(Default)]
struct Taken(Vec<u32>);

impl Sink for Taken {
    type Made = u32;

    fn take(&mut self, made: &mut u32) -> Result<()> {
        self.0.push(*made);
        Ok(())
    }

    fn set_aside(made: &mut u32) -> (u32, usize) {
        (*made, 1)
    }
}

struct Written(Arc<parking_lot::Mutex<Vec<u32>>>);

impl Writer<u32, u32> for Written {
    fn write(&mut self, _: &u32, made: &mut u32) -> Result<()> {
        self.0.lock().push(*made);
        Ok(())
    }
}

/// All blocks pass both turns in order, up to the first that fails.
#[test]
fn sources_pass_in_order() {
    for round in 0..200_u32 {
        let lens: Vec<u32> = (0..round % 7).map(|source| (round * 7 + source * 13) % 40).collect();
        let fails_at = (round % 3 == 0).then_some(round as usize % 5).filter(|at| *at < lens.len());
        let mut next = 0;
        let mut sources = Vec::new();
        let mut expected: Vec<u32> = Vec::new();
        for (source, len) in lens.into_iter().enumerate() {
            let numbers: Vec<u32> = (next..next + len).collect();
            next += len;
            if fails_at.is_none_or(|at| source <= at) {
                expected.extend(&numbers);
            }
            // Only the first error is reported.
            let fails = fails_at.is_some_and(|at| source >= at);
            sources.push(Numbers(numbers.into_iter().rev().collect(), fails));
        }
        for (threads, aside) in [(1, 0), (4, 0), (2, 1000), (5, 1000), (3, 2), (1, 9)] {
            let sources: Vec<_> =
                sources.iter().map(|Numbers(all, fails)| Numbers(all.clone(), *fails)).collect();
            let work = |block: &u32, made: &mut u32| {
                if block.is_multiple_of(5) {
                    thread::yield_now();
                }
                *made = *block;
                Ok(())
            };
            let written = Arc::default();
            let writer = Written(Arc::clone(&written));
            let how = (threads, aside);
            let done = in_two_turns(sources.into_iter(), how, work, Taken::default(), writer);
            assert_eq!(done.is_err(), fails_at.is_some());
            assert_eq!(*written.lock(), expected, "{threads} threads");
            assert!(done.is_ok_and(|(taken, _)| taken.0 == expected) || fails_at.is_some());
        }
    }
}
