//! Storage in memory that keeps a journal of all operations, and can produce what a crash at any
//! moment could have left.
//!
//! Synced bytes are there. Of other writes, each sector of 512 bytes is there or not, in any order.
//! A length that was not synced is the old one or the new one. Of changes to the directory that
//! were not synced, the first few are there.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "tests of Linux alone use all"))]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use malkoha_store::storage::{Mapping, Storage, StorageFile, View};

const SECTOR: usize = 512;

/// All that a file was mapped to; the last one is the present one.
type Mappings = Arc<Mutex<Vec<Arc<View>>>>;

/// What was done.
#[derive(Clone, Debug)]
enum Event {
    Create(u64, String, u64),
    Resize(u64, u64),
    Write(u64, u64, Vec<u8>),
    Sync(u64),
    /// One that failed: the system takes the pages for written from then on.
    FailedSync(u64),
    Rename(String, String),
    Remove(String),
    SyncDirectory,
}

#[derive(Default)]
struct State {
    /// The number and the present bytes of each file.
    files: BTreeMap<String, (u64, Mappings)>,
    journal: Vec<Event>,
    next: u64,
    failing: bool,
    /// The same, but they report success: only `still_writes` tells.
    lying: bool,
    immutable: bool,
    keeping: bool,
}

/// A directory in memory.
#[derive(Clone, Default)]
pub(crate) struct Simulated(Arc<Mutex<State>>);

struct SimulatedFile {
    number: u64,
    /// The last one is the present one.
    mappings: Mappings,
    state: Arc<Mutex<State>>,
}

fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Simulated {
    fn file(&self, number: u64, mappings: &Mappings) -> Box<dyn StorageFile> {
        let (mappings, state) = (Arc::clone(mappings), Arc::clone(&self.0));
        Box::new(SimulatedFile { number, mappings, state })
    }

    /// Whether syncs of files fail from now on.
    pub(crate) fn fail_syncs(&self, failing: bool) {
        self.0.lock().unwrap().failing = failing;
    }

    /// Whether syncs of files fail from now on, report success, and only `still_writes` tells.
    pub(crate) fn lie_about_syncs(&self, lying: bool) {
        self.0.lock().unwrap().lying = lying;
    }

    /// Whether log files cannot be removed from now on.
    pub(crate) fn fail_removals(&self, failing: bool) {
        self.0.lock().unwrap().immutable = failing;
    }

    /// From now on no room can be given back.
    pub(crate) fn keep_room(&self) {
        self.0.lock().unwrap().keeping = true;
    }

    /// Changes so far.
    pub(crate) fn events(&self) -> usize {
        self.0.lock().unwrap().journal.len()
    }

    /// What a crash after this many changes can leave; `chance` chooses the unsynced ones.
    pub(crate) fn crashed(&self, events: usize, mut chance: impl FnMut() -> bool) -> Self {
        let state = self.0.lock().unwrap();
        let mut files: BTreeMap<u64, Image> = BTreeMap::new();
        let mut names: BTreeMap<String, u64> = BTreeMap::new();
        let mut pending: Vec<&Event> = Vec::new();
        for event in &state.journal[..events] {
            match event {
                Event::Create(number, _, bytes) => {
                    files.insert(*number, Image::new(*bytes));
                    pending.push(event);
                }
                Event::Resize(number, bytes) => files.get_mut(number).unwrap().resize(*bytes),
                Event::Write(number, at, bytes) => files.get_mut(number).unwrap().write(*at, bytes),
                Event::Sync(number) => files.get_mut(number).unwrap().sync(),
                Event::FailedSync(number) => files.get_mut(number).unwrap().forget(),
                Event::Rename(..) | Event::Remove(_) => pending.push(event),
                Event::SyncDirectory => {
                    pending.drain(..).for_each(|event| apply(event, &mut names))
                }
            }
        }
        for event in pending {
            if !chance() {
                break;
            }
            apply(event, &mut names);
        }
        let left = Self::default();
        for (name, number) in names {
            let bytes = files[&number].crashed(&mut chance);
            let file = left.create(&name, bytes.len() as u64).unwrap();
            file.write_at(0, &bytes).unwrap();
            file.sync().unwrap();
        }
        left.sync_directory().unwrap();
        left
    }
}

fn apply(event: &Event, names: &mut BTreeMap<String, u64>) {
    match event {
        Event::Create(number, name, _) => drop(names.insert(name.clone(), *number)),
        Event::Rename(from, to) => {
            let number = names.remove(from).unwrap();
            names.insert(to.clone(), number);
        }
        Event::Remove(name) => drop(names.remove(name)),
        _ => unreachable!("no change to the directory"),
    }
}

/// A file in the simulation of a crash.
struct Image {
    durable: Vec<u8>,
    present: Vec<u8>,
    /// Sectors that a sync would write.
    dirty: BTreeSet<usize>,
}

impl Image {
    fn new(bytes: u64) -> Self {
        let present = vec![0; usize::try_from(bytes).unwrap()];
        Self { durable: Vec::new(), present, dirty: BTreeSet::new() }
    }

    fn resize(&mut self, bytes: u64) {
        self.present.resize(usize::try_from(bytes).unwrap(), 0);
    }

    fn write(&mut self, at: u64, bytes: &[u8]) {
        let at = usize::try_from(at).unwrap();
        self.present[at..at + bytes.len()].copy_from_slice(bytes);
        self.dirty.extend(at / SECTOR..(at + bytes.len()).div_ceil(SECTOR));
    }

    fn forget(&mut self) {
        self.dirty.clear();
    }

    fn sync(&mut self) {
        self.durable.resize(self.present.len(), 0);
        for dirty in std::mem::take(&mut self.dirty) {
            let end = self.present.len().min((dirty + 1) * SECTOR);
            let bytes = (dirty * SECTOR).min(end)..end;
            self.durable[bytes.clone()].copy_from_slice(&self.present[bytes]);
        }
    }

    fn crashed(&self, chance: &mut impl FnMut() -> bool) -> Vec<u8> {
        let mut bytes = self.present.clone();
        let mut old = self.durable.clone();
        if old.len() != bytes.len() && !chance() {
            bytes.resize(old.len(), 0);
        }
        old.resize(bytes.len(), 0);
        for (new, old) in bytes.chunks_mut(SECTOR).zip(old.chunks(SECTOR)) {
            if new != old && !chance() {
                new.copy_from_slice(old);
            }
        }
        bytes
    }
}

impl Storage for Simulated {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().unwrap().files.keys().cloned().collect())
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>> {
        let mut state = self.0.lock().unwrap();
        if state.files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mapping = Mapping::memory(usize::try_from(bytes).unwrap())?;
        let mappings = Arc::new(Mutex::new(vec![Arc::new(View::Mapped(mapping))]));
        let number = state.next;
        state.next += 1;
        state.journal.push(Event::Create(number, name.to_owned(), bytes));
        state.files.insert(name.to_owned(), (number, Arc::clone(&mappings)));
        drop(state);
        Ok(self.file(number, &mappings))
    }

    fn open(&self, name: &str, _writable: bool) -> io::Result<Box<dyn StorageFile>> {
        let state = self.0.lock().unwrap();
        let (number, mappings) = state.files.get(name).cloned().ok_or_else(not_found)?;
        drop(state);
        Ok(self.file(number, &mappings))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        let file = state.files.remove(from).ok_or_else(not_found)?;
        state.files.insert(to.to_owned(), file);
        state.journal.push(Event::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        if state.immutable && name.ends_with(".log") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        state.files.remove(name).ok_or_else(not_found)?;
        state.journal.push(Event::Remove(name.to_owned()));
        Ok(())
    }

    fn still_writes(&self) -> io::Result<()> {
        if self.0.lock().unwrap().lying {
            Err(io::ErrorKind::ReadOnlyFilesystem.into())
        } else {
            Ok(())
        }
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.lock().unwrap().journal.push(Event::SyncDirectory);
        Ok(())
    }

    fn link(&self, _name: &str, _directory: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn copy(&self, _name: &str, _directory: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl SimulatedFile {
    fn note(&self, event: Event) {
        self.state.lock().unwrap().journal.push(event);
    }

    fn mapping(&self) -> Arc<View> {
        Arc::clone(self.mappings.lock().unwrap().last().unwrap())
    }
}

impl StorageFile for SimulatedFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.mapping().length())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let old = self.mapping();
        let new = Mapping::memory(usize::try_from(bytes).unwrap())?;
        let kept = usize::try_from(bytes.min(old.length())).unwrap();
        new.write(0, &old.get(0, kept).unwrap())?;
        self.mappings.lock().unwrap().push(Arc::new(View::Mapped(new)));
        self.note(Event::Resize(self.number, bytes));
        Ok(())
    }

    fn reserve(&self, bytes: Range<u64>) -> io::Result<()> {
        if bytes.end > self.length()? { self.set_len(bytes.end) } else { Ok(()) }
    }

    fn release(&self, from: u64) -> io::Result<()> {
        if self.state.lock().unwrap().keeping {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let bytes = self.length()?.saturating_sub(from);
        self.write_at(from, &vec![0; usize::try_from(bytes).unwrap()])
    }

    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let end = self.length()?;
        Ok((from < end).then_some(from..end))
    }

    fn is_shared(&self) -> io::Result<bool> {
        Ok(false)
    }

    fn view(&self) -> io::Result<Arc<View>> {
        Ok(self.mapping())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let View::Mapped(mapping) = &*self.mapping() else { unreachable!("files are mapped") };
        mapping.write(offset, bytes)?;
        self.note(Event::Write(self.number, offset, bytes.to_vec()));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        if self.state.lock().unwrap().failing {
            self.note(Event::FailedSync(self.number));
            return Err(io::Error::other("the device is gone"));
        }
        let lying = self.state.lock().unwrap().lying;
        self.note(if lying { Event::FailedSync } else { Event::Sync }(self.number));
        Ok(())
    }

    fn close(&self) {}
}
