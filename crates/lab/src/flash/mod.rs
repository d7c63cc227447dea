//! The store on a model of flash: how much is written for each byte that is put, and how the erase
//! blocks wear, beside records that are overwritten in place. The article at coolshell.cn has
//! its store append to sectors of 1 KiB because what is erased wears out.

mod chip;
mod files;
mod work;

use anyhow::{Result, ensure};
use clap::Args;

use crate::args::parse_count;
use crate::machine::Machine;
use crate::report::{Grid, Report, number};
use chip::{SECTOR, Shape};
use files::Files;
use work::{Amount, Cost, InPlace, KEY, Log, Subject, WORKLOADS};

/// What its tables say.
const HELP: &str = "\
The device has sectors of 1 KiB, which are written to erased pages alone. All figures are counts: no
clock has a part in them. \"written\" is what a subject writes in whole sectors, \"copied\" what the
device writes again to empty blocks, each over the bytes of keys and values that were given; wear is
in erases of a block during the workload.";

/// Options of the model of flash.
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct FlashArgs {
    /// KiB that the device can hold
    #[arg(long, value_parser = parse_count, default_value = "32768")]
    pub kib: u64,
    /// Pages of 1 KiB in an erase block
    #[arg(long, default_value_t = 64)]
    pub block: u32,
    /// Pages beyond those, as a share of them
    #[arg(long, default_value_t = 0.07)]
    pub spare: f64,
    /// Keys and values, as a share of the device
    #[arg(long, default_value_t = 0.5)]
    pub full: f64,
    /// Bytes of a value
    #[arg(long, value_delimiter = ',', default_value = "100,1000")]
    pub values: Vec<usize>,
    /// Operations between two syncs
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "1,100")]
    pub syncs: Vec<u64>,
    /// Operations of each workload after the first, for each record
    #[arg(long, default_value_t = 3)]
    pub turns: u64,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Date to note, instead of the clock's
    #[arg(long)]
    pub date: Option<String>,
}

/// Runs the workloads and prints a table for each value size and sync interval.
///
/// # Errors
///
/// If an option is out of range, or a record is not on the device in the end.
pub fn report(args: &FlashArgs) -> Result<()> {
    ensure!((1 << 12..=1 << 22).contains(&args.kib), "--kib: 4096 to 4194304");
    ensure!((4..=1024).contains(&args.block), "--block: 4 to 1024");
    ensure!((0.02..=1.0).contains(&args.spare), "--spare: 0.02 to 1");
    ensure!(
        (0.05..=0.6).contains(&args.full),
        "--full: 0.05 to 0.6, as the log needs its half more"
    );
    ensure!(args.values.iter().all(|value| (1..=100_000).contains(value)), "--values: 1 to 100000");
    print!("{}", Report::new(Machine::describe(args.date.clone())).head());
    for &value in &args.values {
        for &sync in &args.syncs {
            print!("{}", table(args, value, sync)?);
        }
    }
    Ok(())
}

fn table(args: &FlashArgs, value: usize, sync: u64) -> Result<Grid> {
    let title =
        format!("Keys of {KEY} and values of {value} bytes, a sync every {sync} operations");
    let head = ["", "", "MiB given", "written", "copied", "in all", "erases"];
    let wear = ["wear: least", "mean", "most", "most, not levelled"];
    let mut grid = Grid::new(title, head.into_iter().chain(wear));
    for in_place in [false, true] {
        let [level, not] =
            [true, false].map(|levelling| costs(args, value, sync, levelling, in_place));
        for (workload, (level, not)) in WORKLOADS.iter().zip(level?.iter().zip(&not?)) {
            let who = if in_place { "in place" } else { "the store" };
            grid.row([(*workload).to_owned(), who.to_owned()].into_iter().chain(cells(level, not)));
        }
    }
    Ok(grid)
}

fn costs(
    args: &FlashArgs,
    value: usize,
    sync: u64,
    levelling: bool,
    in_place: bool,
) -> Result<Vec<Cost>> {
    let sectors = u32::try_from(args.kib)?;
    let shape = Shape { sectors, block_pages: args.block, spare: args.spare, levelling };
    let files = Files::new(shape);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let bytes = (f64::from(sectors) * SECTOR as f64 * args.full) as u64;
    let keys = bytes / (KEY + value) as u64;
    let subject: Box<dyn Subject> = if in_place {
        Box::new(InPlace::new(&files, keys, value)?)
    } else {
        Box::new(Log::new(&files)?)
    };
    let amount = Amount { keys, value, turns: args.turns, sync, seed: args.seed };
    work::run(subject, &files, amount)
}

fn cells(level: &Cost, not: &Cost) -> impl Iterator<Item = String> {
    let pages = |pages: u64| (pages * SECTOR as u64) as f64 / level.given as f64;
    let (written, copied) = (level.counts.written, level.counts.copied);
    let range = |wear: &[u32]| (wear.iter().min().copied(), wear.iter().max().copied());
    let (least, most) = range(&level.wear);
    let mean = level.counts.erases as f64 / level.wear.len() as f64;
    let whole = |count: Option<u32>| count.map_or_else(String::new, |count| count.to_string());
    [
        number(Some(level.given as f64 / f64::from(1 << 20))),
        number(Some(pages(written))),
        number(Some(pages(copied))),
        number(Some(pages(written + copied))),
        level.counts.erases.to_string(),
        whole(least),
        number(Some(mean)),
        whole(most),
        whole(range(&not.wear).1),
    ]
    .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appending_wears_less_than_writing_in_place_and_nothing_is_lost() {
        let args = FlashArgs {
            kib: 8 << 10,
            block: 64,
            spare: 0.07,
            full: 0.1,
            values: vec![],
            syncs: vec![],
            turns: 2,
            seed: 1,
            date: None,
        };
        // As in the article: a record and its key fill a sector.
        let costs = |in_place| costs(&args, 200, 20, true, in_place).unwrap();
        let (log, table) = (costs(false), costs(true));
        let all = |cost: &Cost| cost.counts.written + cost.counts.copied;
        for (log, table) in log.iter().zip(&table).skip(1) {
            assert!(all(log) < all(table), "{log:?} {table:?}");
            assert!(log.counts.written * SECTOR as u64 > log.given);
        }
        let grid = table_text(&args);
        for workload in WORKLOADS {
            assert!(grid.lines().filter(|line| line.contains(workload)).count() == 2, "{grid}");
        }
    }

    fn table_text(args: &FlashArgs) -> String {
        let small = FlashArgs { turns: 1, ..args.clone() };
        super::table(&small, 1000, 50).unwrap().to_string()
    }
}
