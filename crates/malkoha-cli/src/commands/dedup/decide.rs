//! The first turn: decides on the documents in their order.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use malkoha_text::{Decision, Prepared, Reason};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::journal::Journal;
use super::progress::Progress;
use super::seen::Seen;
use crate::commands::documents::{Content, Fate, Hashes, Note, Record, Records, Shard, shown};
use crate::pipeline::Sink;

impl Hashes for Prepared {
    fn size_in_bytes(&self) -> usize {
        self.size_in_bytes()
    }
}

/// Decides on documents, and saves the state from time to time.
pub(super) struct Decider {
    pub(super) seen: Seen,
    pub(super) progress: Progress,
    shards: Arc<[Shard]>,
    /// Whether decisions are reported.
    reports: bool,
    /// Files before this one were finished by an earlier run.
    first_new: usize,
    journal: Option<Arc<Mutex<Journal>>>,
    /// When to save the state.
    next_save: Instant,
}

/// A state is saved at most this often, and takes at most one part in this many of the time.
const SHORTEST: Duration = Duration::from_secs(1);
const PART: u32 = 20;

/// Texts whose memory is requested together.
const AHEAD: usize = 16;

impl Decider {
    pub(super) fn new(
        seen: Seen,
        shards: Arc<[Shard]>,
        reports: bool,
        journal: Option<Arc<Mutex<Journal>>>,
        progress: Progress,
    ) -> Self {
        let first_new = progress.finished;
        let next_save = Instant::now() + SHORTEST;
        Self { seen, progress, shards, reports, first_new, journal, next_save }
    }

    /// Decides on the next record, and adds a line to the report if it does not stay as it is.
    fn decide(
        &mut self,
        (shard, line): (usize, u64),
        record: &mut Record,
        prepared: &Prepared,
        lines: &mut Vec<u8>,
    ) -> Result<()> {
        let decision = if record.content == Content::Text {
            self.seen.texts.decide(prepared)?
        } else {
            self.seen.texts.skip();
            Decision::Keep
        };
        if shard >= self.first_new {
            self.count(record, &decision);
            if self.reports {
                let place = |(file, line): (&str, u64)| json!({ "file": file, "line": line });
                let of = |number| place(self.seen.place(number));
                let start = place((&shown(&self.shards[shard].input), line));
                if let Some(report) = report(start, &record.content, &decision, of) {
                    writeln!(lines, "{report}")?;
                }
            }
        }
        match decision {
            Decision::Keep => {}
            Decision::Drop(_) => record.fate = Fate::Drop,
            Decision::Cut { kept, .. } => record.fate = Fate::Cut(kept),
        }
        Ok(())
    }

    /// Counts a decision.
    fn count(&mut self, record: &Record, decision: &Decision) {
        let totals = &mut self.progress.totals;
        match (&record.content, decision) {
            (Content::Blank, _) => return,
            (Content::Bad(_), _) => {
                totals.bad += 1;
                totals.bad_dropped += u64::from(record.fate == Fate::Drop);
            }
            (_, Decision::Drop(duplicate)) => match duplicate.reason {
                Reason::Near { .. } => totals.near += 1,
                Reason::Paragraphs { .. } => totals.emptied += 1,
                _ => totals.same += 1,
            },
            (_, Decision::Cut { paragraphs, .. }) => {
                totals.cut += 1;
                totals.paragraphs += u64::from(*paragraphs);
                totals.kept += 1;
            }
            (_, _) => totals.kept += 1,
        }
        totals.documents += 1;
    }

    /// Saves the state after this file, if it is time.
    fn save(&mut self, shard: usize) -> Result<()> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let start = Instant::now();
        if start < self.next_save {
            return Ok(());
        }
        journal.lock().save(&self.seen, shard + 1)?;
        self.progress.saved = shard + 1;
        self.next_save = Instant::now() + SHORTEST.max(start.elapsed() * PART);
        Ok(())
    }
}

impl Sink for Decider {
    type Made = Records<Prepared>;

    fn take(&mut self, records: &mut Records<Prepared>) -> Result<()> {
        let shard = records.shard;
        let (mut line, mut lines) = (records.first, Vec::new());
        if line == 1 && !records.ends {
            self.seen.begin_file(&self.shards[shard].input);
        }
        for (records, prepared) in records.chunks(AHEAD) {
            prepared.iter().for_each(|prepared| self.seen.texts.prefetch(prepared));
            for (record, prepared) in records.iter_mut().zip(prepared) {
                self.decide((shard, line), record, prepared, &mut lines)?;
                line += 1;
            }
        }
        let is_new = shard >= self.first_new;
        records.report = lines;
        if records.ends && is_new {
            self.progress.finished = shard + 1;
            self.save(shard)?;
            let progress = self.progress;
            records.note = self.journal.clone().map(|journal| -> Note {
                Box::new(move |report| journal.lock().note(Progress { report, ..progress }))
            });
        }
        Ok(())
    }
}

/// Completes the report on a record that does not stay as it is.
fn report(
    mut report: Value,
    content: &Content,
    decision: &Decision,
    of: impl Fn(u64) -> Value,
) -> Option<Value> {
    match (content, decision) {
        (Content::Blank, _) | (Content::Text, Decision::Keep) => return None,
        (Content::Bad(bad), _) => {
            report["why"] = "bad".into();
            report["bad"] = bad.to_string().into();
        }
        (_, Decision::Cut { paragraphs, .. }) => {
            report["why"] = "cut".into();
            report["paragraphs"] = (*paragraphs).into();
        }
        (_, Decision::Drop(duplicate)) => {
            match duplicate.reason {
                Reason::Near { bands, similarity } => {
                    report["why"] = "near".into();
                    report["bands"] = bands.into();
                    report["similarity"] = ((similarity * 100.0).round() / 100.0).into();
                }
                Reason::Paragraphs { repeated, left } => {
                    report["why"] = "paragraphs".into();
                    report["paragraphs"] = repeated.into();
                    report["left"] = left.into();
                }
                _ => report["why"] = "same".into(),
            }
            if let Some(number) = duplicate.of {
                report["of"] = of(number);
            }
        }
    }
    Some(report)
}
