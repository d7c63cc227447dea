//! The report on the paper's experiments: the plots, and one HTML page, all made from the result
//! files alone. `docs/report/README.md` is written by hand.

mod claims;
mod costs;
mod data;
mod explainer;
pub(crate) mod plot;
mod ratios;
mod sections;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use askama::Template;
use clap::Args;

use data::{Data, Machine};
use explainer::Step;
use plot::Plot;
use table::Table;

/// Options of the report.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Folder with the results of `lab paper`. What lies there besides is shown too: `threads.csv`
    /// of `lab threads`, `peers.csv` of `lab-peers --classic`, and how long a whole run took,
    /// `time.csv`
    #[arg(long, value_name = "FOLDER", default_value = "benchmarks/2026-11-22-xeon-2.3GHz/paper")]
    pub data: PathBuf,
    /// Folder with results of `lab paper` at the paper's sizes, as far as there are any: table 3
    /// and figures 5 to 8 with `--slots 27`, larger tables of figure 2. Its folder `later` has
    /// those of structures that were measured in another run, with `--only`
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
    id: &'static str,
    title: &'static str,
    /// What the paper did and says.
    paper: &'static str,
    /// Where our figures differ, and why.
    differs: String,
    plots: Vec<Plot>,
    tables: Vec<Table>,
}

impl Section {
    /// "Figure 5" of "Figure 5: lookups by share of present keys".
    fn short_title(&self) -> &str {
        self.title.split_once(':').map_or(self.title, |(short, _)| short)
    }
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
    claims: Table,
    /// Why some of the claims do not hold here.
    reasons: String,
    /// Where the steps come from.
    example: &'static str,
    steps: Vec<Step>,
    costs: Table,
    sections: Vec<Section>,
}

/// Reads the results and writes a file for each plot, and all of it in one page, `index.html`.
///
/// # Errors
///
/// If a result file is missing or damaged, or a file cannot be written.
pub fn run(args: &ReportArgs) -> Result<()> {
    let data = Data::read(&args.data, &args.large)?;
    let page = Page {
        machine: data.machine.clone(),
        claims: claims::table(&data),
        reasons: claims::reasons(&data),
        example: explainer::ORIGIN,
        steps: explainer::steps(),
        costs: costs::table(),
        sections: sections::all(&data)?,
    };
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
