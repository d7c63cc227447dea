//! Bits per key and the false-positive rate at many sizes, between which segments grow and split.

use anyhow::Result;

use super::Run;
use super::growth::Growth;
use crate::report::{Grid, number};
use crate::subject::{Contender, Operation};

/// Sizes, over this many doublings up to the largest.
const SIZES: i32 = 16;
const DOUBLINGS: f64 = 3.0;
/// Keys handed over at a time.
const BATCH: usize = 1024;
/// Absent keys looked up at each size: enough for this many false positives at the promised rate,
/// between these bounds.
const HITS: f64 = 1000.0;
const SAMPLE: (f64, f64) = (1e5, 2e7);

const SPACE: (&str, &str) = ("bits/key", "bits");
const MEASURED: (&str, &str) = ("measured fpr", "of the promised");
const STATED: (&str, &str) = ("stated fpr", "of the promised");

impl Run<'_> {
    pub(super) fn space(&mut self, contenders: &[Contender]) -> Result<()> {
        let most = self.args.keys.last().copied().unwrap_or(0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let size = |number: i32| {
            let doublings = DOUBLINGS * f64::from(number + 1 - SIZES) / f64::from(SIZES);
            ((most as f64 * doublings.exp2()).round() as u64).max(1)
        };
        let sizes: Vec<u64> = (0..SIZES).map(size).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
        let sample = (HITS / self.fpr).clamp(SAMPLE.0, SAMPLE.1) as u64;
        let mut grids = [SPACE, MEASURED, STATED].map(|(name, unit)| {
            let title = self.title(&format!("{name}, {unit}"));
            let head = [String::new()].into_iter().chain(sizes.iter().map(ToString::to_string));
            Grid::new(title, head.chain(["mean".to_owned(), "most".to_owned()]))
        });
        for contender in contenders {
            let mut growth = Growth::new(contender, self.args, BATCH)?;
            let insert = growth.subject.fastest(Operation::Insert);
            let find = growth.subject.fastest(Operation::Find);
            let mut found: [Vec<f64>; 3] = Default::default();
            for &keys in &sizes {
                growth.to(keys, |subject, batch, refused| {
                    subject.insert_all(insert, batch, refused);
                });
                let hits = growth
                    .absent(sample, |subject, batch, found| subject.find_all(find, batch, found));
                found[0].push(growth.bits_per_key());
                found[1].push(hits as f64 / sample as f64 / self.fpr);
                found[2].extend(growth.subject.expected_fpr().map(|rate| rate / self.fpr));
            }
            let measures = [SPACE, MEASURED, STATED];
            for (((name, unit), values), grid) in measures.into_iter().zip(&found).zip(&mut grids) {
                for (&keys, &value) in sizes.iter().zip(values) {
                    self.figures.add(&contender.name, keys, name, unit, value);
                }
                if !values.is_empty() {
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let cells = values.iter().copied().chain([mean, most]);
                    let cells = cells.map(|value| number(Some(value)));
                    grid.row([contender.name.clone()].into_iter().chain(cells));
                }
            }
            let lost = growth.lost();
            self.check(contender, most, lost);
        }
        grids.iter().for_each(|grid| print!("{grid}"));
        Ok(())
    }
}
