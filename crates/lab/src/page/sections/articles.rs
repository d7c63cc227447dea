//! Claims of articles other than the paper, and the experiments that test them.

use anyhow::Result;

use super::{cells, lines};
use crate::page::Section;
use crate::page::data::Data;
use crate::page::plot::{Axis, Plot};
use crate::page::table::Table;
use crate::paper::Experiment as E;

const BINS: Axis = Axis { label: "bins and balls, log2", from: 6.0, to: 22.2, logarithmic: false };
const FULLEST: Axis =
    Axis { label: "balls in the fullest bin", from: 0.0, to: 11.0, logarithmic: false };
const CAME: Axis =
    Axis { label: "keys that came over keys that are in", from: 1.0, to: 12.1, logarithmic: false };
const RATE: Axis =
    Axis { label: "false-positive rate, %", from: 0.0, to: 101.0, logarithmic: false };

pub(super) fn all(data: &Data) -> Result<Vec<Section>> {
    Ok(vec![bins(data)?, toy(data), bitmap(data), savings(data), churn(data)?, checked(data)])
}

fn bins(data: &Data) -> Result<Section> {
    let lines = lines(data, E::Bins, "fullest bin");
    Ok(Section {
        id: "bins",
        title: "Two choices: balls in bins",
        paper: "An article on cuckoo filters begins with N balls in N bins: the fullest has about \
                ln N / ln ln N at random, and ln ln N where each ball takes the emptier of two \
                bins, which inspired cuckoo hashing.",
        differs:
            "Means of ten sets of balls. The formulas leave out constants: the lines have their \
                  slope, not their height. A second bin that follows from the first by a hash of 8 \
                  bits, as in a cuckoo filter, is nearly as good as an independent one. Of four bins, one \
                  in each fourth, the leftmost of the emptiest is a d-left table's choice: two balls \
                  at most, at every size."
            .to_owned(),
        plots: vec![Plot::new("bins.svg", "Balls in bins", BINS, FULLEST, &lines)?],
        tables: vec![Table::of_lines("fullest bin", "log2 N", &lines)],
    })
}

fn toy(data: &Data) -> Section {
    Section {
        id: "toy",
        title: "80 or 96 %: which entry is kicked out",
        paper: "Another article implements a table of four slots a bucket and fills it to about \
                80 %. The filter's author answers: 96 %, by at most 500 kicks and a good hash \
                function.",
        differs: "Mean loads at the first refusal. The article's code always kicks out the first \
                  entry of a bucket, up to 512 times, so all moves go through a quarter of the \
                  slots, and soon in a circle: at its size that gives 80 %, and less in larger \
                  tables. A random slot gives the author's 96 %. The hash function was not at \
                  fault (SHA-1), and neither were the kicks: 50 do as much as 512."
            .to_owned(),
        plots: vec![],
        tables: vec![Table::of_cells(
            "Ours, with the article's 80 % and the author's 96 % in brackets",
            data.of(E::Toy),
        )],
    }
}

fn bitmap(data: &Data) -> Section {
    Section {
        id: "bitmap",
        title: "A bitmap for integer keys",
        paper: "A reader of that article: for keys that are integers a bitmap does the same, \
                exactly.",
        differs: "Where it fits, it does, and faster: a bitmap takes a bit for each number that a \
                  key might be. It is smaller than our filter where more than one number in twelve \
                  is a key. Beyond, and for keys that are no numbers, a filter costs the same \
                  whatever they are; even the best exact set costs more than it from one key in \
                  about 1,800 numbers on. Lookups are of random numbers, one by one."
            .to_owned(),
        plots: vec![],
        tables: vec![Table::of_cells(
            "0.9 million keys; gap windows of 11 bits",
            data.of(E::Bitmap),
        )],
    }
}

fn savings(data: &Data) -> Section {
    Section {
        id: "savings",
        title: "40 % smaller than a Bloom filter, and only in powers of two?",
        paper: "The article that finds cuckoo filters wanting: they save about 40 % of a Bloom \
                filter's space at the same rate, but their length must be a power of two.",
        differs:
            "40 % cannot be: a Bloom filter takes 1.44 times the least that any filter needs, \
                  so 31 % is all there is to save. The power of two is the price of the \
                  exclusive-or, and costs up to half; our alternates are differences modulo any \
                  number of places."
                .to_owned(),
        plots: vec![],
        tables: vec![
            Table::of_cells(
                "Saved over a Bloom filter of the same rate, %, with what the article says",
                data.of(E::Savings),
            ),
            Table::of_cells("Bits a key, fingerprints of 12 bits", data.of(E::Sizes)),
        ],
    }
}

fn churn(data: &Data) -> Result<Section> {
    let lines = lines(data, E::Churn, "rate");
    Ok(Section {
        id: "churn",
        title: "Keys that come and go",
        paper: "The same article: of hundreds of millions that came, a thousand are left, and a \
                Bloom filter keeps the traces of all, until it must be built anew.",
        differs:
            "65,536 keys are in at any time; each that comes replaces one. The Bloom filter is \
                  made for as many. All others lie on one line, at the rate that they were made \
                  for."
                .to_owned(),
        plots: vec![Plot::new("churn.svg", "Keys that come and go", CAME, RATE, &lines)?],
        tables: vec![Table::of_lines("rate", CAME.label, &lines)],
    })
}

fn checked(data: &Data) -> Section {
    Section {
        id: "checked",
        title: "Looking up before inserting",
        paper: "And: to insert no key twice one would look it up first; but then a key whose \
                fingerprint is in is left out, and is lost when the other key is removed. So \
                deletion, and counting, are of no use.",
        differs:
            "It is as the article says, for about one key in so many as the rate has it. Insert \
                  always: copies are counted, so nothing is left out, nothing is lost, and the \
                  count is exact. `insert_unique` is for keys that are never removed."
                .to_owned(),
        plots: vec![],
        tables: vec![cells(data, E::Checked)],
    }
}
