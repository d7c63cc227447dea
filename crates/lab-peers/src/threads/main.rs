//! `thread-peers`: the filter that threads share beside other people's, in one process.

mod rivals;

use anyhow::Result;
use clap::Parser;
use lab::args::ThreadsArgs;
use lab::report::{Grid, number};
use lab::results::Row;
use lab::threads::{self, SharedContender, Way};

/// Let threads look up and insert in our shared filter and in those of other crates, and print the
/// ratios
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    threads: ThreadsArgs,
}

fn main() -> Result<()> {
    let args = Cli::parse().threads;
    let mut contenders: Vec<SharedContender> = threads::locks().into_iter().take(1).collect();
    contenders.extend(rivals::all());
    let rows = threads::report(&args, &contenders)?;
    print!("{}", against(&rows));
    Ok(())
}

/// Our rates as multiples of the rivals', who have no batches: ours are set against their one by one.
fn against(rows: &[Row]) -> Grid {
    let ours = rows.first().map_or("", |row| &row.contender);
    let head = ["work", "rival", Way::Single.name(), Way::Batch.name()];
    let mut grid = Grid::new("Ours over the rivals' one by one", head.map(str::to_owned));
    let rate = |measure: &str| {
        let same = |row: &&Row| row.contender == ours && row.measure == measure;
        rows.iter().find(same).map(|row| row.median)
    };
    for row in rows.iter().filter(|row| row.contender != ours) {
        let batched = row.measure.replace(Way::Single.name(), Way::Batch.name());
        let ratio = |rate: Option<f64>| number(rate.map(|rate| rate / row.median));
        let names = [row.measure.clone(), row.contender.clone()];
        grid.row(names.into_iter().chain([ratio(rate(&row.measure)), ratio(rate(&batched))]));
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_set_against_one_by_one() {
        let row = |contender: &str, way: Way, median| Row {
            contender: contender.to_owned(),
            measure: format!("lookups, {}, 2 threads", way.name()),
            median,
            ..Row::default()
        };
        let rows = [
            row("ours", Way::Single, 30.0),
            row("rival", Way::Single, 10.0),
            row("ours", Way::Batch, 70.0),
        ];
        let text = against(&rows).to_string();
        assert!(text.contains("3.0") && text.contains("7.0"), "{text}");
    }
}
