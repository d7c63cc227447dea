//! `malkoha overlap`: how much of each document occurs in evaluation sets.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use indicatif::HumanCount;
use malkoha_text::{Memory, Overlap, Share, Shingle};
use serde_json::{Value, json};

use super::documents::{
    Content, DocumentArgs, Fate, Files, Hashes, Records, Report, Shard, each_text, shown,
};
use crate::failure::{Outcome, tell, tell_summary};
use crate::input::{at_most_one_stdin, is_same, name};
use crate::output::print_record;
use crate::pipeline::Sink;

/// Find documents that overlap with evaluation sets, by n-grams of words
#[derive(Args, Debug)]
#[command(after_help = include_str!("overlap.txt"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    documents: DocumentArgs,

    /// Files of texts to compare with, or directories of them; can be given several times
    #[arg(long, value_name = "PATH", required = true)]
    against: Vec<PathBuf>,

    /// A field of theirs that has a text; can be given several times [default: that of --field]
    #[arg(long, value_name = "NAME")]
    against_field: Vec<String>,

    /// Words of an n-gram
    #[arg(long, value_name = "N", default_value_t = 13)]
    ngrams: u32,

    /// Print or drop documents whose share is above this, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    above: f64,

    /// Write for each dropped document its share, and for each record without a text its place: a
    /// JSON object a line
    #[arg(long, value_name = "FILE", requires = "output")]
    report: Option<PathBuf>,

    /// Print the counts as a JSON record: to stdout with --output, else to stderr
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let Arguments { documents, above, .. } = arguments;
    ensure!((0.0..=1.0).contains(above), "--above {above}: a share is from 0 to 1");
    let shards = documents.shards()?;
    documents.check_outputs(&shards)?;
    at_most_one_stdin(shards.iter().map(|shard| &shard.input).chain(&arguments.against))?;
    if let Some(report) = &arguments.report {
        documents.check_other(report, &shards)?;
        let mut others = arguments.against.iter();
        ensure!(
            !others.any(|path| is_same(path, report)),
            "{} is also a file of --against: name another file",
            name(report)
        );
    }
    let known = Arc::new(arguments.known()?);
    let writes = documents.output.is_some();
    let report = arguments.report.as_deref();
    let report = report.map(|path| Report::open(path, None, documents.force)).transpose()?;
    let prepare = {
        let known = Arc::clone(&known);
        move |text: &str, memory: &mut Memory, share: &mut Share| *share = known.share(text, memory)
    };
    let finder = Finder { shards: Arc::clone(&shards), above: *above, counts: Counts::default() };
    let report = report.or_else(|| (!writes).then(Report::stdout));
    let how = (0, writes, documents.force);
    let files = Files::new(Arc::clone(&shards), how, report);
    let finder = documents.run(&shards, 0, prepare, finder, files)?;
    arguments.summarise(&finder.counts, &known)?;
    Ok(Outcome::found_if(finder.counts.overlapping > 0))
}

impl Arguments {
    /// The n-grams of the texts to compare with.
    fn known(&self) -> Result<Overlap> {
        let mut known = Overlap::new(Shingle::Words(self.ngrams))?;
        let field = std::slice::from_ref(&self.documents.field);
        let fields = if self.against_field.is_empty() { field } else { &self.against_field };
        let bad = self.documents.bad;
        each_text(&self.against, fields, bad, |text| Ok(known.add(text)?))?;
        if known.short_texts() > 0 {
            tell(&format!(
                "malkoha: {} of {} texts of --against have fewer than {} words: they are found \
                 only where a document has just these words",
                known.short_texts(),
                known.texts(),
                self.ngrams
            ));
        }
        Ok(known)
    }

    fn summarise(&self, counts: &Counts, known: &Overlap) -> Result<()> {
        let &Counts { documents, overlapping, bad } = counts;
        if self.json {
            let record = json!({
                "documents": documents,
                "overlapping": overlapping,
                "bad": bad,
                "texts": known.texts(),
                "ngrams": known.ngrams(),
            });
            if self.documents.output.is_some() {
                return print_record(&record);
            }
            tell(&record.to_string());
        } else {
            let bad = match bad {
                0 => String::new(),
                bad => format!(", {} without a text", HumanCount(bad)),
            };
            tell_summary(&format!(
                "{} documents, {} overlap{bad}; {} n-grams of {} texts",
                HumanCount(documents),
                HumanCount(overlapping),
                HumanCount(known.ngrams()),
                HumanCount(known.texts()),
            ));
        }
        Ok(())
    }
}

#[derive(Default)]
struct Counts {
    documents: u64,
    overlapping: u64,
    bad: u64,
}

impl Hashes for Share {
    fn size_in_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

/// Compares shares with the limit.
struct Finder {
    shards: Arc<[Shard]>,
    above: f64,
    counts: Counts,
}

impl Sink for Finder {
    type Made = Records<Share>;

    fn take(&mut self, records: &mut Self::Made) -> Result<()> {
        let (file, mut lines) = (shown(&self.shards[records.shard].input), Vec::new());
        for (line, (record, share)) in (records.first..).zip(records.each()) {
            let report: Value = match &record.content {
                Content::Blank => continue,
                Content::Bad(bad) => {
                    self.counts.bad += 1;
                    self.counts.documents += 1;
                    json!({ "file": file, "line": line, "bad": bad.to_string() })
                }
                Content::Text => {
                    self.counts.documents += 1;
                    if share.ratio() <= self.above {
                        continue;
                    }
                    self.counts.overlapping += 1;
                    record.fate = Fate::Drop;
                    json!({
                        "file": file,
                        "line": line,
                        "share": (share.ratio() * 1e4).round() / 1e4,
                        "found": share.found,
                        "ngrams": share.all,
                    })
                }
            };
            writeln!(lines, "{report}")?;
        }
        records.report = lines;
        Ok(())
    }
}
