//! The report on the paper's experiments: the plots, and one HTML page, all made from the result
//! files alone. `docs/report/README.md` is written by hand.

mod data;
pub(crate) mod plot;
mod sections;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use askama::Template;
use clap::Args;

use crate::machine::Machine;
use data::Data;
use plot::Plot;
use table::Table;

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

/// One table or figure of the paper.
#[derive(Clone)]
struct Section {
    title: &'static str,
    plots: Vec<Plot>,
    tables: Vec<Table>,
}

#[derive(Template)]
#[template(path = "report.html")]
struct HtmlPage<'a> {
    page: &'a Page,
    plot_style: String,
}

/// All that the template shows.
struct Page {
    machine: Machine,
    sections: Vec<Section>,
}

/// Reads the results and writes a file for each plot, and all of it in one page, `index.html`.
///
/// # Errors
///
/// If a result file is missing or damaged, or a file cannot be written.
pub fn run(args: &ReportArgs) -> Result<()> {
    let data = Data::read(&args.data, &args.large)?;
    let page = Page { machine: data.machine().clone(), sections: sections::all(&data)? };
    fs::create_dir_all(&args.out).with_context(|| format!("creating {}", args.out.display()))?;
    let write = |name: &str, text: String| write(&args.out.join(name), &text);
    for plot in page.sections.iter().flat_map(|section| &section.plots) {
        write(&plot.file, plot.standalone())?;
    }
    let plot_style = plot::dark_style();
    write("index.html", HtmlPage { page: &page, plot_style }.render()?)?;
    println!("{}", args.out.join("index.html").display());
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    // Templates leave trailing blanks where conditions were.
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    fs::write(path, lines.join("\n") + "\n").with_context(|| format!("writing {}", path.display()))
}
