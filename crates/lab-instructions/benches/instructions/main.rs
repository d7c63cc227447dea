//! Counts the instructions that operations of every kind of filter and map execute, by Callgrind.
//!
//! Each kind is a benchmark function, each operation an id of it. [`work`] prepares the table and
//! the keys; the count covers [`Work::run`] alone, a loop over the operations or one batch of them.
//! `checks/instructions` runs this and divides by the number of operations, which is printed.

#![expect(missing_docs, reason = "the macros of the harness make public items")]

mod kinds;
mod work;

use gungraun::{library_benchmark, library_benchmark_group, main};

use malkoha::Layout::{GapWindows, SemiSorted, Words};

use kinds::{BUCKETED, concurrent, fixed, growable, growable_concurrent, growable_map, map};
use work::{Work, check};

/// Counts these operations, functions of [`work`], on a kind that a function of [`kinds`] builds.
macro_rules! count {
    ($name:ident, $make:expr, $($operation:ident),*) => {
        #[library_benchmark(teardown = check)]
        $(#[bench::$operation(work::$operation($make))])*
        fn $name(mut work: Box<dyn Work>) -> Box<dyn Work> {
            work.run();
            work
        }
    };
}

macro_rules! count_set {
    ($name:ident, $make:expr $(, $more:ident)*) => {
        count!($name, $make, lookup, lookup_key, lookup_batch, insert_half, insert_last,
            insert_half_batch, insert_last_batch, remove, remove_batch $(, $more)*);
    };
}

macro_rules! count_map {
    ($name:ident, $make:expr $(, $more:ident)*) => {
        count!($name, $make, lookup, lookup_batch, get, get_batch, insert_half, insert_last,
            insert_half_batch, insert_last_batch, remove $(, $more)*);
    };
}

count_set!(bucketed_4x12, fixed(BUCKETED, 12), build, lookup_batch_far);
count_set!(bucketed_4x8, fixed(BUCKETED, 8));
count_set!(semi_sorted_13, fixed(SemiSorted, 13), build);
count_set!(gap_windows_11, fixed(GapWindows, 11), build, lookup_batch_far);
count_set!(gap_windows_15, fixed(GapWindows, 15), build);
count_set!(words_12, fixed(Words, 12), build);
count_set!(growable_1, growable(1.0), grow, grow_batch);
count_set!(growable_1024, growable(1024.0), grow, grow_batch, grow_sorted, grow_segment, alternate);
count_set!(concurrent_words, concurrent());
count_set!(
    concurrent_growable,
    growable_concurrent(),
    grow,
    grow_batch,
    grow_sorted,
    grow_segment,
    alternate
);
count_map!(map_16, map());
count_map!(growable_map_16, growable_map(), grow, grow_batch, grow_sorted, grow_segment, alternate);

library_benchmark_group!(
    name = fixed,
    benchmarks =
        [bucketed_4x12, bucketed_4x8, semi_sorted_13, gap_windows_11, gap_windows_15, words_12]
);
library_benchmark_group!(name = growing, benchmarks = [growable_1, growable_1024]);
library_benchmark_group!(name = shared, benchmarks = [concurrent_words, concurrent_growable]);
library_benchmark_group!(name = valued, benchmarks = [map_16, growable_map_16]);

main!(library_benchmark_groups = fixed, growing, shared, valued);
