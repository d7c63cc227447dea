//! Sizes and metrics of a store.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Store;

/// Sizes of a store, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Keys that have a value; a number.
    pub keys: u64,
    /// Log files; a number.
    pub files: u64,
    /// Written in log files.
    pub log_bytes: u64,
    /// Of these: records that were overwritten or deleted.
    pub dead_bytes: u64,
    /// Of these: tombstones.
    pub tombstone_bytes: u64,
    /// Taken by log files, including the room that is reserved for the last one.
    pub reserved_bytes: u64,
    /// The index, in memory.
    pub index_bytes: u64,
    /// Sorted records, in memory, where keys are kept in order.
    pub order_bytes: u64,
}

/// Sizes of a store, and counts since it was opened. Reads are not counted: a counter that threads
/// share would cost more than a part of a lookup does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Sizes now.
    pub stats: Stats,
    /// Puts and deletes that were written; a number.
    pub written_records: u64,
    /// Bytes of them, in the log.
    pub written_bytes: u64,
    /// Records that compaction wrote again; a number.
    pub copied_records: u64,
    /// Bytes of them.
    pub copied_bytes: u64,
    /// Log files that compaction removed; a number.
    pub removed_files: u64,
    /// Bytes of them.
    pub removed_bytes: u64,
    /// Times that the log was synced, each for all that was written until then.
    pub syncs: u64,
    /// Time that syncs took.
    pub sync_time: Duration,
    /// Checkpoints that were written; a number.
    pub checkpoints: u64,
    /// Time that writes were held back until compaction had made room.
    pub held_back: Duration,
}

#[derive(Default)]
pub(super) struct Counters {
    pub(super) written: Counter,
    pub(super) copied: Counter,
    pub(super) removed: Counter,
    pub(super) checkpoints: AtomicU64,
}

#[derive(Default)]
pub(super) struct Counter {
    count: AtomicU64,
    bytes: AtomicU64,
}

impl Counter {
    pub(super) fn add(&self, count: usize, bytes: u64) {
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn get(&self) -> (u64, u64) {
        (self.count.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

impl Store {
    /// Sizes.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let files = self.inner.files.load();
        let mut stats = Stats {
            keys: self.len(),
            files: files.all().len() as u64,
            index_bytes: self.inner.index.size_in_bytes(),
            ..Stats::default()
        };
        let last = files.all().last().map(|file| file.id());
        for file in files.all() {
            stats.log_bytes += file.end();
            stats.dead_bytes += file.dead();
            stats.tombstone_bytes += file.tombstones();
            stats.order_bytes += file.order_bytes();
            let is_last = Some(file.id()) == last;
            stats.reserved_bytes += if is_last { file.capacity() } else { file.least() };
        }
        stats
    }

    /// Sizes, and counts since opening.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let Counters { written, copied, removed, checkpoints } = &self.inner.counters;
        let (written_records, written_bytes) = written.get();
        let (copied_records, copied_bytes) = copied.get();
        let (removed_files, removed_bytes) = removed.get();
        let (syncs, sync_time) = self.inner.commit.syncs();
        Metrics {
            stats: self.stats(),
            written_records,
            written_bytes,
            copied_records,
            copied_bytes,
            removed_files,
            removed_bytes,
            syncs,
            sync_time,
            checkpoints: checkpoints.load(Ordering::Relaxed),
            held_back: self.inner.throttle.held_back(),
        }
    }
}

impl Stats {
    /// The sizes in the text format of Prometheus, each with the label `store`.
    #[must_use]
    pub fn prometheus(&self, store: &str) -> String {
        let mut text = String::new();
        for (name, help, value) in [
            ("keys", "Keys that have a value.", self.keys),
            ("files", "Log files.", self.files),
            ("log_bytes", "Bytes written in log files.", self.log_bytes),
            ("dead_bytes", "Bytes of records that were overwritten or deleted.", self.dead_bytes),
            ("tombstone_bytes", "Bytes of tombstones.", self.tombstone_bytes),
            ("reserved_bytes", "Bytes that log files take on the device.", self.reserved_bytes),
            ("index_bytes", "Bytes of the index in memory.", self.index_bytes),
            ("order_bytes", "Bytes of sorted records in memory.", self.order_bytes),
        ] {
            sample(&mut text, name, help, "gauge", store, value);
        }
        text
    }
}

impl Metrics {
    /// All of it in the text format of Prometheus, each with the label `store`.
    #[must_use]
    pub fn prometheus(&self, store: &str) -> String {
        let mut text = self.stats.prometheus(store);
        for (name, help, value) in [
            ("written_records_total", "Puts and deletes that were written.", self.written_records),
            ("written_bytes_total", "Bytes of puts and deletes.", self.written_bytes),
            ("copied_records_total", "Records that compaction wrote again.", self.copied_records),
            ("copied_bytes_total", "Bytes of records that compaction wrote.", self.copied_bytes),
            ("removed_files_total", "Log files that compaction removed.", self.removed_files),
            ("removed_bytes_total", "Bytes of log files that were removed.", self.removed_bytes),
            ("syncs_total", "Times that the log was synced.", self.syncs),
            ("checkpoints_total", "Checkpoints that were written.", self.checkpoints),
        ] {
            sample(&mut text, name, help, "counter", store, value);
        }
        for (name, help, time) in [
            ("sync_seconds_total", "Time that syncs took.", self.sync_time),
            ("held_back_seconds_total", "Time that writes waited for compaction.", self.held_back),
        ] {
            sample(&mut text, name, help, "counter", store, time.as_secs_f64());
        }
        text
    }
}

/// One metric with one sample.
fn sample(
    text: &mut String,
    name: &str,
    help: &str,
    kind: &str,
    store: &str,
    value: impl std::fmt::Display,
) {
    let label = store.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let name = format!("malkoha_store_{name}");
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP {name} {help}");
    let _ = writeln!(text, "# TYPE {name} {kind}");
    let _ = writeln!(text, "{name}{{store=\"{label}\"}} {value}");
}
