//! What is not a table or figure of the paper: copies, choices, other people's filters.

use super::cells;
use crate::page::claims::place;
use crate::page::data::{Data, Optional};
use crate::page::table::Table;
use crate::page::{Section, ratios};
use crate::paper::Experiment as E;
use crate::paper::clock::{BEFORE, SECONDS, sum};

pub(super) fn all(data: &Data) -> Vec<Section> {
    let copies = Section {
        id: "copies",
        title: "One item, inserted 15 times",
        paper: "An article (“Bloom filters are outdated, the future belongs to cuckoo filters?”) \
                inserts one item 15 times into a Go filter: eight successes, then refusals. The \
                paper, section 6: kb times at most.",
        differs: "The library's filters take any number of copies: two lie in the table, the \
                  others are counted beside it. What was accepted can be removed again, \
                  everywhere but from Bloom filters. Tables with keys hold one entry a key. The \
                  first row is the paper's algorithm."
            .to_owned(),
        plots: vec![],
        tables: vec![cells(data, E::Copies)],
    };
    let choices = Section {
        id: "choices",
        title: "Load factors of d choices by b slots",
        paper: "With two choices: 50, 84, 95 and 98 % for b = 1, 2, 4 and 8 (section 5.1). The \
                article: 95 % with four choices of one slot, 99 % with four of two, and 85 % with \
                \"several seats\" at each of two places.",
        differs: "Keys are stored and hash functions independent, 2^16 slots, 500 kicks. The paper \
                  states loads that practically never fail; ours are where the first refusal comes, \
                  below the threshold of theory for large tables (small ones may end above it). The \
                  article's 85 % is what two seats give; four, which its own code has, give 97 %.".to_owned(),
        plots: vec![],
        tables: vec![Table::of_cells(
            "Ours, with the paper's figure or the article's in brackets",
            data.of(E::Choices),
        )],
    };
    let ratios = ratios::table(data).map(|table| Section {
        id: "ratios",
        title: "The classic filters beside well-known crates",
        paper: "The paper measured its own implementations only.",
        differs: "fastbloom 0.17 with a fast hasher, and qfilter 0.3 by its method that keeps \
                  copies, each asked for a rate of 0.2 %, alternating in one process with ours. \
                  Ours hash with XXH3-64, which is the same on every machine and takes two to \
                  three nanoseconds more than theirs. Given the same hashes, our Bloom filter \
                  does 0.91 to 1.1 times as many lookups as fastbloom. Both quotient filters \
                  keep an offset for each block of 64 slots and find runs by popcnt and pdep; \
                  ours asks whether the processor has these. After this table was measured a \
                  run came to be found by one search instead of two and compared as a whole: given \
                  the same hashes, 100,000 keys are now looked up 0.99 (absent) to 1.3 times \
                  (present) as fast as by qfilter, inserted 0.96 and removed 0.80 times; 943,000, \
                  whose tables do not fit into the second-level cache, 0.87, 0.88 to 0.97, 0.82 \
                  to 0.92 and 0.73 to 0.84 (benchmarks/2026-11-23-epyc/classic.txt, with what \
                  is known of the rest). Other work was running: the same ratio moved by a tenth \
                  from run to run."
            .to_owned(),
        plots: vec![],
        tables: vec![table],
    });
    [Some(copies), Some(choices), ratios, time(data)].into_iter().flatten().collect()
}

/// How long all of it took, if that was measured.
fn time(data: &Data) -> Option<Section> {
    let Optional { machine, rows } = &data.time;
    if rows.is_empty() {
        return None;
    }
    let (whole, before) = (sum(rows, SECONDS), sum(rows, BEFORE));
    let resumed = if before > 0.0 {
        format!(
            "It was killed after {before:.0} s of finished work and given again with \
             `--resume`: the seconds until then count, and nothing that was finished was done twice."
        )
    } else {
        "It was not stopped.".to_owned()
    };
    Some(Section {
        id: "time",
        title: "How long it takes",
        paper: "Nothing.",
        differs: format!(
            "`lab paper`, all experiments at their ordinary sizes: {whole:.0} s ({}). {resumed} \
             These are the seconds of one such run; the results above are from several, of \
             which each file says its own.",
            place(machine)
        ),
        plots: vec![],
        tables: vec![Table::of_cells("Seconds of each experiment", rows)],
    })
}
