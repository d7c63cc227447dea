//! `lab-peers`: the lab's benchmark with other people's filters beside ours, in one process.

mod cuckoo;
mod growing;
mod looped;
mod others;
mod rivals;
mod space;

use anyhow::{Result, ensure};
use clap::Parser;
use lab::args::BenchArgs;
use lab::report;
use lab::subject::Contender;
use rivals::FPR;

/// Fill, query and empty our filters and those of other crates, and print the ratios.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    bench: BenchArgs,
    /// Only these rivals
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Not these rivals
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    skip: Vec<String>,
    /// The classic structures (Bloom, quotient and so on) beside our layouts
    #[arg(long)]
    classic: bool,
    /// Instead of speeds: bits a key for several false-positive rates
    #[arg(long)]
    space: bool,
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    if cli.space {
        return space::report(&cli.bench.keys, |rate| {
            chosen(rivals::all(rate), &cli.only, &cli.skip)
        });
    }
    let mut contenders: Vec<Contender> = cli.bench.ours().collect();
    if cli.classic {
        contenders.extend(lab::classic::contenders(FPR));
    }
    let ours: Vec<usize> = (0..contenders.len()).collect();
    let rivals = match cli.bench.start {
        Some(start) => rivals::growing(usize::try_from(start)?, cli.bench.fpr),
        None => rivals::all(FPR),
    };
    contenders.extend(chosen(rivals, &cli.only, &cli.skip)?);
    contenders.extend(cli.bench.peers()?);
    let rivals: Vec<usize> = (ours.len()..contenders.len()).collect();
    cli.bench.run(&contenders, |results| {
        let pairs = ours.iter().flat_map(|&our| rivals.iter().map(move |&rival| (our, rival)));
        let compared = report::against(results, "Ours against the rivals", pairs);
        format!("{}{compared}", report::gains(results, &ours))
    })
}

fn chosen(all: Vec<Contender>, only: &[String], skip: &[String]) -> Result<Vec<Contender>> {
    let names: Vec<String> = all.iter().map(|rival| rival.name.clone()).collect();
    for name in only.iter().chain(skip) {
        ensure!(names.contains(name), "no rival {name:?}; there are: {}", names.join(", "));
    }
    let wanted = |rival: &Contender| {
        (only.is_empty() || only.contains(&rival.name)) && !skip.contains(&rival.name)
    };
    Ok(all.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rivals_are_chosen_by_name() {
        let name = |name: &str| vec![name.to_owned()];
        let names = |chosen: Vec<Contender>| -> Vec<String> {
            chosen.into_iter().map(|rival| rival.name).collect()
        };
        let everyone = names(chosen(rivals::all(FPR), &[], &[]).unwrap());
        let without = names(chosen(rivals::all(FPR), &[], &name("qfilter")).unwrap());
        assert_eq!(without.len() + 1, everyone.len());
        assert_eq!(names(chosen(rivals::all(FPR), &name("qfilter"), &[]).unwrap()), ["qfilter"]);
        let Err(error) = chosen(rivals::all(FPR), &name("quotient"), &[]) else {
            panic!("accepted")
        };
        assert!(error.to_string().contains("qfilter"), "{error}");
    }
}
