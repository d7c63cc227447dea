//! First occurrences without error: lines of files are compared, those of streams by a long hash.

use std::sync::Arc;

use anyhow::Result;
use malkoha::KeyHasher;

use super::counts::{Counts, Spool, print};
use super::distinct::{Distinct, Outlook};
use super::shards::Shards;
use super::worker::{Made, Part, What, Worker};
use super::{Arguments, Stats};
use crate::input::{Block, Side, Texts};
use crate::output::{Printed, Printer, Show};
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;
use crate::records::{Added, tell_difference};

/// Longer files are not read beforehand to count their lines: they may not stay in memory.
const MOST_COUNTED: u64 = 1 << 32;

pub(super) fn run(arguments: &Arguments, side: Side, progress: &Progress) -> Result<Stats> {
    // Where only keys are equal, records cannot be compared.
    let texts = if side.keys.are_lines() { Texts::of(&side)?.map(Arc::new) } else { None };
    let Side { inputs, keys } = side;
    let inputs = match &texts {
        // Lines that are appended meanwhile are not mapped, so they cannot be compared.
        Some(texts) => inputs.up_to(texts.lengths()),
        None => inputs,
    };
    let (what, threads) = (What::of(arguments), inputs.useful_threads(arguments.threads.threads()));
    let parts = Arc::new(Shards::new(parts(arguments, texts.as_deref(), threads)?));
    let (separator, hasher) = (inputs.separator(), arguments.seed.hasher());
    let counted = (what == What::Counted).then(|| keys.clone());
    let worker = Worker {
        keys,
        separator,
        hashers: (hasher, KeyHasher::random()),
        texts: texts.clone(),
        parts: Arc::clone(&parts),
        what,
    };
    let added = counted.clone().map(|keys| (keys, Added::Count));
    let show = Show { header: true, added, ..Show::default() };
    let out = Out {
        printer: Printer::new(separator, &arguments.print)?.showing(show, &inputs),
        spool: (what.prints_at_the_end() && texts.is_none()).then(Spool::new).transpose()?,
    };
    let work = move |block: &Block, made: &mut Made| worker.work(block, made);
    let Out { mut printer, spool } = in_order(&inputs, progress, threads, work, out)?;
    let (shards, parts) = (&parts, parts.take());
    if what.prints_at_the_end() {
        let counts: Vec<&Counts> = parts.iter().filter_map(|part| part.counts.as_ref()).collect();
        print((spool, texts.as_deref()), &counts, counted.as_ref(), &mut printer)?;
    }
    let Printed { lines, selected: printed } = printer.finish()?;
    let distinct = parts.iter().map(|part| part.distinct.len()).sum();
    if let Some(texts) = texts.as_deref().filter(|_| inputs.paths().len() > 1) {
        texts.forms().prove(|form, file| {
            let hash = hasher.hash_bytes(form);
            let Part { distinct, counts } = &parts[shards.of(hash)];
            let mut other = None;
            distinct.candidates(hash, |value| {
                let place = counts.as_ref().map_or(value, |counts| counts.witness(value));
                let of = texts.offset(place).filter(|_| texts.is_at(place, form));
                other = other.or(of.map(|(of, _)| of).filter(|&of| of != file));
            });
            Some(texts.name(other?).to_owned())
        });
        tell_difference(distinct < lines, None, 0.0);
    }
    let bytes = parts.iter().map(Part::size_in_bytes).sum();
    Ok(Stats { lines, distinct, printed, bytes, fpr: None })
}

/// Parts that together have the requested room.
fn parts(arguments: &Arguments, texts: Option<&Texts>, threads: usize) -> Result<Vec<Part>> {
    let count = Shards::<Part>::count(threads);
    let lines = |texts: &Texts| {
        if texts.len() <= MOST_COUNTED { texts.most_records() } else { texts.len() }
    };
    let outlook = texts.map(|texts| Outlook { lines: lines(texts), bytes: texts.len() });
    let capacity = outlook.map_or(u64::MAX, |all| all.lines).min(arguments.capacity);
    let of_part = |all: u64| all.div_ceil(count as u64);
    // Some parts have more lines than others.
    let outlook = outlook.map(|all| Outlook { lines: of_part(2 * all.lines), ..all });
    let counts = What::of(arguments).needs_counts();
    let part = |_| {
        let distinct = Distinct::new(of_part(capacity), outlook)?;
        Ok(Part { distinct, counts: counts.then(Counts::default) })
    };
    (0..count).map(part).collect()
}

/// Prints the results of blocks, and keeps what is printed at the end.
struct Out {
    printer: Printer,
    spool: Option<Spool>,
}

impl Sink for Out {
    type Made = Made;

    fn head(&mut self, header: &[u8], file: &str) -> Result<()> {
        self.printer.head(header, file)
    }

    fn take(&mut self, Made { page, spooled, .. }: &mut Made) -> Result<()> {
        if let Some(spool) = &mut self.spool {
            spool.write(spooled)?;
            spooled.clear();
        }
        self.printer.take(page)
    }
}
