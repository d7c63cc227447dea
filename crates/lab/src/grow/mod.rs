//! Sets and maps that grow from few keys, none of it foreseen: the speed of each way to insert, the
//! latency of single inserts, space and rate at many sizes, and threads that share.

mod growth;
mod latency;
mod space;
mod speed;
mod threads;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use hashbrown::HashMap;
use malkoha::{
    Builder, GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap, GrowableCuckooFilter,
    GrowableCuckooMap,
};

use crate::args::{OutputArgs, chosen, parse_count};
use crate::filters::VALUE_BITS;
use crate::keys::Keys;
use crate::peer;
use crate::report::Report;
use crate::results::{Figures, Row};
use crate::subject::{Access, Contender};

/// The meaning of the tables.
const HELP: &str = "\
Every set and map grows from --start keys and does not know how many will come. Million keys per
second of processor time, for threads by the clock. Churn removes keys and inserts others, as many
pairs per second. \"get\" looks up absent keys. An insert's latency is read off the clock around it;
the longest is bounded by the processor time of the 64 inserts around it.";

/// Options of growth.
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct GrowArgs {
    /// Keys that each grows to; figures are taken at every one of these sizes
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "100k,1M")]
    pub keys: Vec<u64>,
    /// False-positive rates to keep to
    #[arg(long, value_delimiter = ',', default_value = "0.001")]
    pub fpr: Vec<f64>,
    /// Keys that each is built for
    #[arg(long, value_parser = parse_count, default_value = "1000")]
    pub start: u64,
    /// Tables to make
    #[arg(long, value_enum, value_delimiter = ',', default_value = "speed,latency,space,threads")]
    pub tables: Vec<Table>,
    /// Measure these alone, named as in the tables and parted by semicolons
    #[arg(long, value_delimiter = ';')]
    pub only: Vec<String>,
    /// Shared objects with other people's filters
    #[arg(long = "peer", value_name = "FILE")]
    pub peers: Vec<PathBuf>,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    pub threads: Vec<usize>,
    /// Growth to name when ours are built; without it, the rate holds at any size
    #[arg(long, value_name = "FACTOR")]
    pub growth: Option<f64>,
    /// Grow ours without huge pages, as filters in servers do
    #[arg(long)]
    pub ordinary_pages: bool,
    /// Repetitions, of which the median is taken
    #[arg(long, default_value_t = 1)]
    pub runs: u32,
    /// Seed of the keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help's heading")]
    pub output: OutputArgs,
}

/// A way to insert.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    access: Access,
    /// Keys that are handed over at a time.
    batch: usize,
}

/// A table of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// Inserts in four ways, churn, lookups
    Speed,
    /// Percentiles of single inserts
    Latency,
    /// Bits per key and the rate at 16 sizes over the last three doublings
    Space,
    /// Inserts by threads that share one
    Threads,
}

/// Measures and prints; `rivals` lists more contenders by false-positive rate and greatest size.
///
/// # Errors
///
/// If one cannot be built, a file cannot be written, or one of ours lost a key.
pub fn report(args: &GrowArgs, rivals: impl Fn(f64, u64) -> Vec<Contender>) -> Result<()> {
    ensure!(
        args.runs > 0 && args.threads.iter().all(|&n| n > 0),
        "--runs and --threads: 1 or more"
    );
    let mut args = args.clone();
    args.keys.sort_unstable();
    let output = args.output.clone();
    let mut report = Report::start(&output);
    let mut lost = Vec::new();
    for &fpr in &args.fpr {
        let most = args.keys.last().copied().unwrap_or(0);
        let mut contenders = args.ours(fpr);
        contenders.extend(rivals(fpr, most));
        for path in &args.peers {
            contenders.push(peer::contender(path)?);
        }
        let contenders = chosen(contenders, &args.only, |contender| &contender.name)?;
        let mut run = Run { args: &args, fpr, figures: Figures::default(), lost: &mut lost };
        for table in &args.tables {
            match table {
                Table::Speed => run.speed(&contenders)?,
                Table::Latency => run.latency(&contenders)?,
                Table::Space => run.space(&contenders)?,
                Table::Threads => run.threads()?,
            }
        }
        let rows = run.figures.rows().into_iter();
        let of_rate = |row: Row| Row { contender: format!("{}, fpr {fpr}", row.contender), ..row };
        report.add(rows.map(of_rate))?;
    }
    ensure!(lost.is_empty(), "keys lost by our own:\n{}", lost.join("\n"));
    Ok(())
}

/// The measurements at one rate.
struct Run<'a> {
    args: &'a GrowArgs,
    fpr: f64,
    figures: Figures,
    /// Keys that ours lost, in words.
    lost: &'a mut Vec<String>,
}

impl Run<'_> {
    fn title(&self, title: &str) -> String {
        format!("{title}; from {} keys, fpr {}", self.args.start, self.fpr)
    }

    /// Notes keys that a contender does not find.
    fn check(&mut self, contender: &Contender, keys: u64, lost: u64) {
        if lost > 0 {
            self.figures.add(&contender.name, keys, "lost", "keys", lost as f64);
        }
        if lost > 0 && contender.ours {
            self.lost.push(format!("{}, {keys} keys: {lost}", contender.name));
        }
    }
}

impl GrowArgs {
    fn keys(&self) -> Keys {
        Keys::new(self.seed)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    fn builder<F>(&self, start: u64, fpr: f64) -> Builder<F> {
        let builder = Builder::new().capacity(start).fpr(fpr);
        self.growth.map_or(builder.clone(), |growth| builder.growth(growth))
    }

    fn shared_set(&self, start: u64, fpr: f64) -> Result<GrowableConcurrentCuckooFilter> {
        let set: GrowableConcurrentCuckooFilter = self.builder(start, fpr).build()?;
        set.set_huge_pages(!self.ordinary_pages);
        Ok(set)
    }

    fn shared_map(&self, start: u64, fpr: f64) -> Result<GrowableConcurrentCuckooMap> {
        let builder: Builder<GrowableConcurrentCuckooMap> = self.builder(start, fpr);
        let map = builder.value_bits(VALUE_BITS).build()?;
        map.set_huge_pages(!self.ordinary_pages);
        Ok(map)
    }

    /// Ours, and an ordinary hash table.
    fn ours(&self, fpr: f64) -> Vec<Contender> {
        let args = [(); 4].map(|()| self.clone());
        let [for_set, for_map, for_shared_set, for_shared_map] = args;
        vec![
            Contender::new("set", true, move |start| {
                let mut set: GrowableCuckooFilter = for_set.builder(start, fpr).build()?;
                set.set_huge_pages(!for_set.ordinary_pages);
                Ok(set)
            }),
            Contender::new("map", true, move |start| {
                let builder: Builder<GrowableCuckooMap> = for_map.builder(start, fpr);
                let mut map = builder.value_bits(VALUE_BITS).build()?;
                map.set_huge_pages(!for_map.ordinary_pages);
                Ok(map)
            }),
            Contender::new(SHARED_SET, true, move |start| for_shared_set.shared_set(start, fpr)),
            Contender::new(SHARED_MAP, true, move |start| for_shared_map.shared_map(start, fpr)),
            Contender::new("hashbrown", false, |_| Ok(HashMap::<u64, ()>::new())),
        ]
    }
}

const SHARED_SET: &str = "shared set";
const SHARED_MAP: &str = "shared map";
