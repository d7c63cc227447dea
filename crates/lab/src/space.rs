//! What a key costs at a given false-positive rate, as really built.

use malkoha::{CuckooFilter, params};

use crate::args::SpaceArgs;
use crate::ours::Ours;
use crate::report::Grid;

/// The false-positive rates of the table.
pub const RATES: [f64; 4] = [0.03, 0.01, 0.001, 0.0001];

/// Prints the table. Nothing is allocated: the sizes are the builder's plans.
pub fn report(args: &SpaceArgs) {
    print!("{}", table(args.keys));
}

fn table(keys: u64) -> Grid {
    let heads = RATES.map(|rate| format!("fpr {} %", rate * 100.0));
    let title = format!("Bits a key for {keys} keys (in brackets: bits of a fingerprint)");
    let mut grid = Grid::new(title, [String::new()].into_iter().chain(heads));
    let mut formula = |name: &str, bits: fn(f64) -> f64| {
        let cells = RATES.map(|rate| format!("{:.2}     ", bits(rate)));
        grid.row([name.to_owned()].into_iter().chain(cells));
    };
    formula("information bound", params::information_bound);
    formula("Bloom, best case", params::bloom_bits_per_key);
    let every = Ours::every_layout().map(|ours| (ours.layout.to_string(), Some(ours.layout)));
    for (name, layout) in every.chain([("the builder's choice".to_owned(), None)]) {
        let mut cells = vec![name];
        for rate in RATES {
            let builder = CuckooFilter::builder().capacity(keys).fpr(rate);
            let builder = layout.map_or(builder.clone(), |layout| builder.layout(layout));
            // A layout need not reach every rate; then its cell stays empty.
            cells.push(builder.plan().map_or(String::new(), |plan| {
                let fingerprint = plan.geometry.fingerprint_bits;
                format!("{:.2} ({fingerprint:>2})", plan.bits_per_key)
            }));
        }
        grid.row(cells);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_stands_beside_the_bound() {
        let text = table(1_000_000).to_string();
        let line = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(line("information bound").contains("9.97"), "{text}");
        assert!(line("Bloom").contains("14.38"), "{text}");
        assert!(line("gap windows").contains("12.63 (12)"), "{text}");
        // log2(1/0.001) + log2(8), rounded up to a whole bit, over the load.
        assert!(line("bucketed, 4 slots").contains("13.69 (13)"), "{text}");
    }
}
