//! Figures 2 to 4: load and space.

use anyhow::Result;

use super::lines;
use crate::page::Section;
use crate::page::data::{Data, LARGEST};
use crate::page::plot::{Axis, Plot, among};
use crate::page::table::Table;
use crate::paper::Experiment as E;

const BITS: Axis = Axis { label: "bits of a fingerprint", from: 0.0, to: 20.5, logarithmic: false };
const LOAD: Axis = Axis { label: "load factor", from: 0.0, to: 1.0, logarithmic: false };
const RATE: Axis = Axis { label: "false-positive rate", from: 0.9e-5, to: 0.12, logarithmic: true };

/// The most bits of a fingerprint in figure 2.
const WIDEST: f64 = 20.0;
/// The lines of the panels of figure 3, and of those of figure 4.
const WALKS: [&str; 3] = ["b = 2", "b = 4", "b = 8"];
const LAYOUTS: [&str; 6] =
    ["b = 4", "our buckets of 4", "semi-sorted", "gap windows", "concurrent", "growable"];
const FORMULAS: [&str; 4] = ["bound", "Bloom", "CF", "ss-CF"];
const PLANS: [&str; 6] =
    ["bound", "Bloom", "our buckets of 4", "our semi-sorted", "gap windows", "concurrent"];

pub(super) fn figure2(data: &Data) -> Result<Section> {
    let (mut plots, mut tables) = (Vec::new(), Vec::new());
    for (panel, file, label) in [
        ("b = 2", "figure2-b2.svg", "load factor, buckets of 2"),
        ("b = 4", "figure2-b4.svg", "load factor, buckets of 4"),
        ("b = 8", "figure2-b8.svg", "load factor, buckets of 8"),
        ("our search", "figure2-ours.svg", "load factor, our breadth-first search"),
    ] {
        let mut lines = lines(data, E::Figure2, panel);
        lines.extend(super::lines(data, E::Independent, panel));
        let y = Axis { label, ..LOAD };
        plots.push(Plot::new(file, "Figure 2", BITS, y, &lines)?);
        tables.push(Table::of_lines(panel, "f", &lines));
    }
    let caption = "The first refusal of the paper's walk: shares of the runs by its cause, and \
                   loads. Foreseen: runs with 2b + 1 keys in one pair of buckets, by equation 3";
    tables.insert(0, Table::of_cells(caption, data.of(E::Refusals)));
    Ok(Section {
        id: "figure2",
        title: "Figure 2: load factor against fingerprint size",
        paper: "Random keys until an insert needs more than 500 kicks; each point is the least of \
                ten runs. With long enough fingerprints b = 4 fills to 95 % and b = 8 to 98 %; \
                larger tables need longer fingerprints, larger buckets shorter ones; above six \
                bits b = 4 is at its best.",
        differs: "The first three plots are the paper's algorithm: buckets in powers of two, the \
                  alternate by exclusive-or, a random walk. Its dips at short fingerprints are \
                  real and no fault of the walk: at the refusal we looked at all buckets that \
                  could be reached, and found a few full ones whose keys have no other place \
                  (table). Where fingerprints are just too short, most runs end near the best \
                  load and one in ten or a hundred far below; the least of ten runs then jumps. \
                  Equation 3 foresees groups in one pair of buckets, and says itself that it is a \
                  lower bound: with the shortest fingerprints larger groups come first. The last \
                  plot is the library's: a breadth-first search in tables of 2^17 slots, least of \
                  three runs, which fills 1 to 3 % further with long fingerprints. It has no dips, for \
                  it keeps two equal fingerprints in a pair of buckets and counts further ones \
                  beside the table; where fingerprints are short, these are so many that as many \
                  keys as slots leave some slots free. The line of independent hashes is a table with keys \
                  and two hash functions, 500 kicks, least of ten runs: the paper's \"best load \
                  factor\"."
            .to_owned()
            + &large(data),
        plots,
        tables,
    })
}

/// What was measured of the paper's two largest sizes.
fn large(data: &Data) -> String {
    let missing = WALKS.into_iter().filter_map(|panel| {
        let bits: Vec<f64> =
            data.line(E::Figure2, panel, "m = 2^25").iter().map(|point| point.0).collect();
        match bits[..] {
            [] => Some(format!(", not at {panel}")),
            [.., last] if last < WIDEST => Some(format!(", at {panel} with up to {last} bits")),
            _ => None,
        }
    });
    let missing: String = missing.collect();
    let tried = WALKS.into_iter().flat_map(|panel| {
        let line = data.line(E::Figure2, panel, LARGEST);
        line.into_iter()
            .map(move |(bits, load)| format!("{:.1} % at {panel} with {bits} bits", load * 100.0))
    });
    let tried: Vec<String> = tried.collect();
    let largest = if tried.is_empty() {
        "Those of 2^30 were not tried: with four slots they take 4 GiB, and at the 2.1 million \
         inserts a second of 2^25 buckets each fingerprint size takes 33 minutes of a processor, \
         beside other work."
            .to_owned()
    } else {
        format!("Of those of 2^30, also one run each, was tried: {}.", tried.join("; "))
    };
    format!(" Tables of 2^25 buckets are one run each{missing}. {largest}")
}

pub(super) fn figure3(data: &Data) -> Result<Section> {
    let lines = lines(data, E::Figure3, "space");
    let y = Axis { label: "bits an item", from: 0.0, to: 24.0, logarithmic: false };
    Ok(Section {
        id: "figure3",
        title: "Figure 3: bits an item against the measured rate",
        paper: "Filled tables with buckets of 2, 4 and 8: b = 2 is slightly smaller for rates above \
                0.2 %, b = 4 between 0.001 % and 0.2 %.",
        differs: "b = 2, b = 4 and b = 8 are the paper's algorithm at 2^17 slots. At rates below \
                  1 % semi-sorted buckets and gap windows take nearly a bit less, because they save \
                  one by sorting or compare four slots instead of eight. Our layouts are filled to \
                  the first refusal: where fingerprints are short many keys share one by chance, \
                  and counting these beside the table costs more than it saves. So our buckets of \
                  4, which get fuller, take less than the paper's only at rates below 0.1 %. The \
                  concurrent filter puts as many whole fingerprints as fit into a word of 64 bits, \
                  hence its steps. The growable filter refuses no key: it holds as many as it was \
                  asked to begin with."
            .to_owned(),
        plots: vec![
            Plot::new("figure3.svg", "Figure 3", RATE, y, &among(&lines, &WALKS))?,
            Plot::new("figure3-ours.svg", "Figure 3", RATE, y, &among(&lines, &LAYOUTS))?,
        ],
        tables: vec![Table::of_lines("space", "rate", &super::lines(data, E::Figure3, "space"))],
    })
}

pub(super) fn figure4(data: &Data) -> Result<Section> {
    let lines = lines(data, E::Figure4, "formulas");
    let y = Axis { label: "bits an item", from: 0.0, to: 26.0, logarithmic: false };
    Ok(Section {
        id: "figure4",
        title: "Figure 4: rate against space, by the formulas",
        paper: "The bound log2(1/ε), Bloom at 1.44 times that, and cuckoo filters at load 95.5 %: \
                below 3 % a semi-sorted filter is smaller than Bloom's.",
        differs: "The curves of bound, Bloom, CF and ss-CF are the paper's formulas; the other \
                  marks are what the library's builder plans for 127.78 million keys. It cannot \
                  divide bits, so its marks stand where whole fingerprints lead."
            .to_owned(),
        plots: vec![
            Plot::new("figure4.svg", "Figure 4", RATE, y, &among(&lines, &FORMULAS))?,
            Plot::new("figure4-ours.svg", "Figure 4", RATE, y, &among(&lines, &PLANS))?,
        ],
        tables: vec![Table::of_lines(
            "formulas",
            "rate",
            &super::lines(data, E::Figure4, "formulas"),
        )],
    })
}
