//! Tables 1 to 3.

use super::cells;
use super::speed::another_run;
use crate::page::Section;
use crate::page::claims::place;
use crate::page::data::Data;
use crate::page::table::Table;
use crate::paper::Experiment as E;

pub(super) fn table1(data: &Data) -> Section {
    Section {
        id: "table1",
        title: "Table 1: properties",
        paper: "Space relative to a Bloom filter: blocked 1, counting 3 to 4, d-left 1.5 to 2, \
                quotient 1 to 1.2, cuckoo at most 1. Cache misses a lookup: k, 1, k, d, at \
                least 1, and 2.",
        differs: "All measured. Space is our bits an item over those of a space-optimized Bloom \
                  filter at the rate that was measured. Cache lines are those that one lookup \
                  fetches in a full table, counted by Valgrind with a cache of a 24th of the \
                  table's size, which hides 4 % of them. A Bloom lookup of an absent key stops at \
                  the first zero, after two lines; the paper's k is what a present key costs. A \
                  window of gap windows may lie across two lines, and so may a run of the \
                  quotient filter and a bucket of the d-left filter; this one takes less space \
                  than the paper says, for it has one bit to count with. The growable filter finds its segment in a directory.".to_owned(),
        plots: vec![],
        tables: vec![cells(data, E::Table1)],
    }
}

pub(super) fn table2(data: &Data) -> Section {
    Section {
        id: "table2",
        title: "Table 2: space and lookup cost",
        paper: "Bits an item: 1.44 log2(1/ε) for Bloom, (log2(1/ε) + 3)/α for a cuckoo filter \
                and (log2(1/ε) + 2)/α semi-sorted, with α = 95.5 %. Reads: log2(1/ε) and 2.",
        differs: "α is higher because our breadth-first search looks at up to 8000 places where \
                  the paper's walk ends after 500 kicks. k is a whole number here."
            .to_owned(),
        plots: vec![],
        tables: vec![cells(data, E::Table2)],
    }
}

pub(super) fn table3(data: &Data) -> Section {
    let mut tables = vec![cells(data, E::Table3)];
    if let Some(full) = data.full(E::Table3) {
        let caption = format!("The same at the paper's 192 MB ({})", place(&full.machine));
        tables.push(Table::of_cells(&caption, &full.rows));
    }
    if let Some(later) = data.later(E::Table3) {
        let caption = format!("Another run at 192 MB ({})", place(&later.machine));
        tables.push(Table::of_cells(&caption, &later.rows));
    }
    let caption = "Blocked Bloom filters of 9 bits a key, 13 bits an item, by the choice of the \
                   bits in a block of 512";
    tables.push(Table::of_cells(caption, data.of(E::Blocks)));
    Section {
        id: "table3",
        title: "Table 3: space, rates and construction",
        paper: "All filters in 192 MB (12 bits for each of 2^27 slots): BF and blk-BF with nine \
                hash functions for 13 bits an item, QF to 90 % load, the cuckoo and d-left \
                filters to the first refusal.",
        differs: "Items: our cuckoo filters get fuller (breadth-first search). blk-BF: ours takes \
                  independent bits, and has the rate that theory gives them. With double hashing \
                  inside the block, as the paper has it, and an odd second hash we measure the \
                  paper's rate (last table); the paper does not say whether its second hash is \
                  odd. dl-CBF: we divide 12 bits into 11 of a fingerprint and one that counts \
                  copies. The paper does not say how it divides them, so this is a guess: at its \
                  load theory gives 0.60 % for 11 bits and 1.2 % for 10, and its 0.76 % is \
                  neither; why is open. Speeds: tables of a few MB lie in a machine's caches, where nine reads \
                  of a Bloom filter cost little; the paper's lay in memory, and so do those of \
                  192 MB. On a busy machine space and rates hold, and speeds are too low. CBF and what \
                  stands below it are not in the paper.".to_owned() + &another_run(data, E::Table3),
        plots: vec![],
        tables,
    }
}
