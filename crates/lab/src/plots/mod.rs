//! The plots of the report on the paper's experiments, made from the result files alone. The
//! report, `docs/report/README.md`, is written by hand.

mod data;
pub(crate) mod plot;
mod sections;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use data::Data;

/// Options of the report.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Folder with the results of `lab paper`. If `threads.csv` of `lab threads` is there, it
    /// is shown too
    #[arg(long, value_name = "FOLDER", default_value = "benchmarks/2026-11-22-xeon-2.3GHz/paper")]
    pub data: PathBuf,
    /// Folder with results of `lab paper` at the paper's sizes, as far as there are any: table 3
    /// and figures 5 to 8 with `--slots 27`, larger tables of figure 2
    #[arg(long, value_name = "FOLDER", default_value = "benchmarks/2026-11-23-epyc/paper-192MB")]
    pub large: PathBuf,
    /// Folder for the report
    #[arg(long, value_name = "FOLDER", default_value = "docs/report")]
    pub out: PathBuf,
}

impl ReportArgs {
    /// Of the results in one folder alone.
    #[must_use]
    pub fn of(data: PathBuf, out: PathBuf) -> Self {
        Self { large: data.join("large"), data, out }
    }
}

/// Reads the results and writes a file for each plot.
///
/// # Errors
///
/// If a result file is missing or damaged, or a file cannot be written.
pub fn run(args: &ReportArgs) -> Result<()> {
    let plots = sections::all(&Data::read(&args.data, &args.large)?)?;
    fs::create_dir_all(&args.out).with_context(|| format!("creating {}", args.out.display()))?;
    for plot in plots {
        let path = args.out.join(plot.file);
        fs::write(&path, plot.svg).with_context(|| format!("writing {}", path.display()))?;
    }
    println!("{}", args.out.display());
    Ok(())
}
