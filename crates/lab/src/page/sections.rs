//! The sections of the report: what the paper did, our plots and tables, and why they differ.

use anyhow::Result;

use super::Section;
use super::data::Data;
use super::plot::{Axis, Line, Plot};
use super::ratios;
use super::table::Table;
use crate::paper::Experiment as E;

/// All sections, in the paper's order.
pub(super) fn all(data: &Data) -> Result<Vec<Section>> {
    let mut sections = tables(data);
    sections.splice(2..2, [load(data)?, space(data)?, formulas(data)?]);
    sections.extend([figure5(data)?, figure6(data)?, figure7(data)?, figure8(data)?]);
    sections.extend(others(data));
    Ok(sections)
}

fn tables(data: &Data) -> Vec<Section> {
    let table = |experiment: E| vec![Table::of_cells(CAPTION, data.of(experiment))];
    let full = match &data.full_table3[..] {
        [] => vec![],
        values => vec![Table::of_cells("The same at the paper's 192 MB, one run", values)],
    };
    vec![
        Section {
            id: "table1",
            title: "Table 1: properties",
            paper: "Space relative to a Bloom filter: blocked 1, counting 3 to 4, d-left 1.5 to 2, \
                    quotient 1 to 1.2, cuckoo at most 1. Cache misses a lookup: k, 1, k, d, at \
                    least 1, and 2.",
            differs: "Space is our bits an item over those of a space-optimized Bloom filter at \
                      the rate that was measured. Reads are those of the code as built, not \
                      counted by the processor; a Bloom lookup of an absent key stops at the first \
                      zero, after two reads. The growable filter starts at a power of two of \
                      segments, and has room for the next keys.",
            plots: vec![],
            tables: table(E::Table1),
        },
        Section {
            id: "table2",
            title: "Table 2: space and lookup cost",
            paper: "Bits an item: 1.44 log2(1/ε) for Bloom, (log2(1/ε) + 3)/α for a cuckoo filter \
                    and (log2(1/ε) + 2)/α semi-sorted, with α = 95.5 %. Reads: log2(1/ε) and 2.",
            differs: "α is higher because our breadth-first search looks at up to 8000 places where \
                      the paper's walk ends after 500 kicks. k is a whole number here.",
            plots: vec![],
            tables: table(E::Table2),
        },
        Section {
            id: "table3",
            title: "Table 3: space, rates and construction",
            paper: "All filters in 192 MB (12 bits for each of 2^27 slots): BF and blk-BF with nine \
                    hash functions for 13 bits an item, QF to 90 % load, the cuckoo and d-left \
                    filters to the first refusal.",
            differs: "Items: our cuckoo filters get fuller (breadth-first search); our d-left \
                      counts copies in one slot, and takes 11 bits of fingerprint and one of a \
                      counter, a division that the paper does not give. blk-BF: theory says 0.27 % \
                      for nine independent hash functions in blocks of 512 bits, which we meet; \
                      the paper's 0.43 % fits double hashing inside so small a block, where the \
                      probes repeat. Speeds: small tables lie in this machine's caches, where nine \
                      reads of a Bloom filter cost little; the paper's lay in memory. CBF, gap \
                      windows and the growable filter are not in the paper.",
            plots: vec![],
            tables: [table(E::Table3), full].concat(),
        },
    ]
}

const CAPTION: &str = "Ours, with the paper's figure in brackets";

fn lines(data: &Data, experiment: E, panel: &str) -> Vec<Line> {
    let names = data.lines(experiment, panel);
    let line = |name: String| {
        let points = data.line(experiment, panel, &name);
        (name, points)
    };
    names.into_iter().map(line).collect()
}

/// From zero to a little above the highest point.
fn speed(label: &'static str, lines: &[Line]) -> Axis {
    let highest = lines.iter().flat_map(|line| &line.1).map(|point| point.1).fold(1.0, f64::max);
    Axis { label, from: 0.0, to: highest * 1.05, logarithmic: false }
}

const BITS: Axis = Axis { label: "bits of a fingerprint", from: 0.0, to: 20.5, logarithmic: false };
const LOAD: Axis = Axis { label: "load factor", from: 0.0, to: 1.0, logarithmic: false };
const PRESENT: Axis =
    Axis { label: "present keys among the queries, %", from: 0.0, to: 100.0, logarithmic: false };
const OCCUPANCY: Axis = Axis { label: "occupancy, %", from: 0.0, to: 101.0, logarithmic: false };
const RATE: Axis = Axis { label: "false-positive rate", from: 0.9e-5, to: 0.12, logarithmic: true };

fn load(data: &Data) -> Result<Section> {
    let (mut plots, mut tables) = (Vec::new(), Vec::new());
    for (panel, file, label) in [
        ("b = 2", "figure2-b2.svg", "load factor, buckets of 2"),
        ("b = 4", "figure2-b4.svg", "load factor, buckets of 4"),
        ("b = 8", "figure2-b8.svg", "load factor, buckets of 8"),
        ("our search", "figure2-ours.svg", "load factor, our breadth-first search"),
    ] {
        let lines = lines(data, E::Figure2, panel);
        let y = Axis { label, ..LOAD };
        plots.push(Plot::new(file, "Figure 2", BITS, y, &lines)?);
        tables.push(Table::of_points(data, E::Figure2, panel, "f"));
    }
    Ok(Section {
        id: "figure2",
        title: "Figure 2: load factor against fingerprint size",
        paper: "Random keys until an insert needs more than 500 kicks; each point is the least of \
                ten runs. With long enough fingerprints b = 4 fills to 95 % and b = 8 to 98 %; \
                larger tables need longer fingerprints, larger buckets shorter ones; above six \
                bits b = 4 is at its best.",
        differs: "The first three plots are the paper's algorithm: buckets in powers of two, the \
                  alternate by exclusive-or, a random walk. The last is the library's: a \
                  breadth-first search in tables of 2^17 slots, least of three runs, which fills \
                  2 % further with long fingerprints. With short ones the least of ten runs is \
                  a rare event, the first group of keys that share both buckets, and jumps. Tables of 2^25 and 2^30 buckets are measured \
                  with --full and --buckets 30 only.",
        plots,
        tables,
    })
}

fn space(data: &Data) -> Result<Section> {
    let lines = lines(data, E::Figure3, "space");
    let y = Axis { label: "bits an item", from: 0.0, to: 24.0, logarithmic: false };
    Ok(Section {
        id: "figure3",
        title: "Figure 3: bits an item against the measured rate",
        paper: "Filled tables with buckets of 2, 4 and 8: b = 2 is slightly smaller for rates above \
                0.2 %, b = 4 between 0.001 % and 0.2 %.",
        differs: "b = 2 and b = 4 are the paper's algorithm at 2^17 slots. Our layouts reach the \
                  same rates with fewer bits, because they get fuller (buckets of 4), save a bit \
                  by sorting (semi-sorted), or compare four slots instead of eight (gap windows).",
        plots: vec![Plot::new("figure3.svg", "Figure 3", RATE, y, &lines)?],
        tables: vec![Table::of_points(data, E::Figure3, "space", "rate")],
    })
}

fn formulas(data: &Data) -> Result<Section> {
    let lines = lines(data, E::Figure4, "formulas");
    let y = Axis { label: "bits an item", from: 0.0, to: 26.0, logarithmic: false };
    Ok(Section {
        id: "figure4",
        title: "Figure 4: rate against space, by the formulas",
        paper: "The bound log2(1/ε), Bloom at 1.44 times that, and cuckoo filters at load 95.5 %: \
                below 3 % a semi-sorted filter is smaller than Bloom's.",
        differs: "The curves of bound, Bloom, CF and ss-CF are the paper's formulas; the other \
                  marks are what the library's builder plans for 127.78 million keys. It cannot \
                  divide bits, so its marks stand where whole fingerprints lead.",
        plots: vec![Plot::new("figure4.svg", "Figure 4", RATE, y, &lines)?],
        tables: vec![Table::of_points(data, E::Figure4, "formulas", "rate")],
    })
}

fn one_panel(
    data: &Data,
    experiment: E,
    (panel, file, title, label): (&str, &str, &str, &'static str),
    x: Axis,
) -> Result<(Plot, Table)> {
    let lines = lines(data, experiment, panel);
    let plot = Plot::new(file, title, x, speed(label, &lines), &lines)?;
    Ok((plot, Table::of_points(data, experiment, panel, x.label)))
}

const SIZE: &str = "These tables of 3 MB lie in the caches of a newer processor; the paper's took \
                    192 MB, each read of which waited for memory.";

fn figure5(data: &Data) -> Result<Section> {
    let panel = ("lookups", "figure5.svg", "Figure 5", "million lookups a second");
    let (plot, table) = one_panel(data, E::Figure5, panel, PRESENT)?;
    Ok(Section {
        id: "figure5",
        title: "Figure 5: lookups by share of present keys",
        paper: "CF is equally fast for all shares, with a dip at one half; BF and blk-BF lose with \
                the share; QF is slowest.",
        differs: "Our CF compares both buckets without branches, so there is no dip. In cache a \
                  mispredicted branch costs more than a read, so the share matters less to Bloom \
                  filters than in the paper. The machine was shared while this was measured: \
                  single points swing by a third.",
        plots: vec![plot],
        tables: vec![table],
    })
}

fn figure6(data: &Data) -> Result<Section> {
    let panels = [
        ("absent keys", "figure6-absent.svg", "Figure 6", "million lookups a second, absent keys"),
        (
            "present keys",
            "figure6-present.svg",
            "Figure 6",
            "million lookups a second, present keys",
        ),
    ];
    let mut section = Section {
        id: "figure6",
        title: "Figure 6: lookups by occupancy",
        paper: "CF and ss-CF are stable; QF falls with its load; BF and blk-BF are constant for \
                present keys and fall for absent ones.",
        differs: SIZE,
        plots: vec![],
        tables: vec![],
    };
    for panel in panels {
        let (plot, table) = one_panel(data, E::Figure6, panel, OCCUPANCY)?;
        section.plots.push(plot);
        section.tables.push(table);
    }
    Ok(section)
}

fn figure7(data: &Data) -> Result<Section> {
    let panel = ("inserts", "figure7.svg", "Figure 7", "million inserts a second");
    let (plot, table) = one_panel(data, E::Figure7, panel, OCCUPANCY)?;
    Ok(Section {
        id: "figure7",
        title: "Figure 7: inserts by occupancy",
        paper: "Cuckoo filters get slower as they fill, QF too; Bloom filters and dl-CBF are \
                constant.",
        differs: "The same shapes. Our search costs more than the paper's walk in the last five \
                  percent, because it goes on where the walk gives up. The growable filter's \
                  inserts pay for the splits of its segments.",
        plots: vec![plot],
        tables: vec![table],
    })
}

fn figure8(data: &Data) -> Result<Section> {
    let panel = ("removals", "figure8.svg", "Figure 8", "million removals a second");
    let (plot, table) = one_panel(data, E::Figure8, panel, OCCUPANCY)?;
    Ok(Section {
        id: "figure8",
        title: "Figure 8: removals by occupancy",
        paper: "From full to empty: CF is fastest and stable, dl-CBF second; QF is slowest when \
                full and overtakes ss-CF when nearly empty.",
        differs: SIZE,
        plots: vec![plot],
        tables: vec![table],
    })
}

fn others(data: &Data) -> Vec<Section> {
    let cells = |experiment| vec![Table::of_cells(CAPTION, data.of(experiment))];
    let copies = Section {
        id: "copies",
        title: "One item, inserted 15 times",
        paper: "An article (“Bloom filters are outdated, the future belongs to cuckoo filters?”) \
                inserts one item 15 times into a Go filter: eight successes, then refusals. The \
                paper, section 6: kb times at most.",
        differs: "Both buckets of four hold eight copies; windows of two hold four. The growable \
                  filter counts further copies beside the slots. What was accepted can be removed \
                  again, everywhere. Tables with keys hold one entry a key.",
        plots: vec![],
        tables: cells(E::Copies),
    };
    let choices = Section {
        id: "choices",
        title: "Load factors of d choices by b slots",
        paper: "With two choices: 50, 84, 95 and 98 % for b = 1, 2, 4 and 8 (section 5.1). The \
                article: 95 % with four choices of one slot, 99 % with four of two.",
        differs: "Keys are stored and hash functions independent, 2^16 slots, 500 kicks. The paper \
                  states loads that practically never fail; ours are where the first refusal comes, \
                  below the threshold of theory for large tables (small ones may end above it).",
        plots: vec![],
        tables: cells(E::Choices),
    };
    let ratios = ratios::table(data).map(|table| Section {
        id: "ratios",
        title: "The classic filters beside well-known crates",
        paper: "The paper measured its own implementations only.",
        differs: "fastbloom 0.17 with a fast hasher, and qfilter 0.3 by its method that keeps \
                  copies, each asked for a rate of 0.2 %, alternating in one process with ours, \
                  whose hash is XXH3.",
        plots: vec![],
        tables: vec![table],
    });
    [Some(copies), Some(choices), ratios].into_iter().flatten().collect()
}
