//! Crashes at every write of a random workload: nothing acknowledged is lost, nothing half-written
//! is seen, nothing comes back.

use std::env;
use std::sync::Arc;

use malkoha_store::storage::Storage;
use malkoha_store::{Batch, Compression, Durability, Store};

use crate::simulated::Simulated;
use crate::support::{Contents, Random, assert_holds, key, options};

/// The states that the store went through, and which of them was acknowledged when.
struct History {
    storage: Simulated,
    states: Vec<Contents>,
    /// `(events, state)`: from this many events on, a crash may lose nothing of that state.
    acknowledged: Vec<(usize, usize)>,
}

fn run(seed: u64, durability: Durability, steps: usize) -> History {
    let storage = Simulated::default();
    // Visible writes are the same, but the written ones differ.
    let compression = if seed.is_multiple_of(3) { Compression::Lz4 } else { Compression::None };
    let options = options().durability(durability).file_bytes(1 << 12).compression(compression);
    // Of a store in order, crashes also leave files of sorted records as they are.
    let options = options.ordered(seed % 5 < 3);
    let mut open = Store::open_in(Arc::new(storage.clone()), None, &options).unwrap();
    let mut random = Random(seed | 1);
    let (mut states, mut acknowledged) = (vec![Contents::new()], Vec::new());
    for _ in 0..steps {
        let mut state = states.last().unwrap().clone();
        let name = key(u32::try_from(random.below(40)).unwrap());
        let value = vec![
            u8::try_from(random.below(256)).unwrap();
            usize::try_from(random.below(300)).unwrap()
        ];
        let mut synced = durability == Durability::Always;
        match random.below(41) {
            0 => open.compact().unwrap(),
            1 => open.checkpoint().unwrap(),
            2 => open.sync().unwrap(),
            3 => {
                // Also what nobody reads is sorted, and what is read is kept.
                if random.below(2) == 0 {
                    assert_eq!(crate::support::contents(&open), state);
                }
                open.close().unwrap();
                open = Store::open_in(Arc::new(storage.clone()), None, &options).unwrap();
            }
            40 => {
                // A value that is written apart from its head, and a batch of several writes.
                let large = vec![1; 5_000 + usize::try_from(random.below(5_000)).unwrap()];
                let mut batch = Batch::new();
                for n in 0..3 + random.below(4) {
                    let name = key(u32::try_from(n).unwrap());
                    let value = if n == 1 { &large } else { &large[..3_900] };
                    batch.put(&name, value).unwrap();
                    state.insert(name, value.to_vec());
                }
                for n in 0..10 * random.below(2) {
                    let name = key(u32::try_from(n).unwrap());
                    batch.put(&name, &large[..4_000]).unwrap();
                    state.insert(name, large[..4_000].to_vec());
                }
                open.apply(&batch).unwrap();
            }
            4..8 => {
                let mut batch = Batch::new();
                for _ in 0..random.below(6) {
                    let name = key(u32::try_from(random.below(40)).unwrap());
                    if random.below(3) == 0 {
                        batch.delete(&name).unwrap();
                        state.remove(&name);
                    } else {
                        batch.put(&name, &value).unwrap();
                        state.insert(name, value.clone());
                    }
                }
                open.apply(&batch).unwrap();
            }
            8..18 => {
                assert_eq!(open.delete(&name).unwrap(), state.remove(&name).is_some());
            }
            _ => {
                open.put(&name, &value).unwrap();
                state.insert(name, value);
            }
        }
        synced |= state == *states.last().unwrap() && random.below(10) == 0 && open.sync().is_ok();
        states.push(state);
        if synced {
            acknowledged.push((storage.events(), states.len() - 1));
        }
    }
    History { storage, states, acknowledged }
}

/// Crashes after each event, `times` times; answers the number of crashes.
fn crash_everywhere(history: &History, times: u64) -> usize {
    let options = options().file_bytes(1 << 12);
    let mut random = Random(0x9e37_79b9);
    for events in 0..=history.storage.events() {
        let acknowledged = history.acknowledged.iter().rev().find(|(at, _)| *at <= events);
        let least = acknowledged.map_or(0, |(_, state)| *state);
        for _ in 0..times {
            // From all that was not synced to nothing of it.
            let share = random.below(5);
            let left = history.storage.crashed(events, || random.below(4) < share);
            let began = left.events() as u64;
            let store = Store::open_in(Arc::new(left.clone()), None, &options)
                .unwrap_or_else(|error| panic!("after {events} events: {error}"));
            let found = crate::support::contents(&store);
            let state = history.states[least..].iter().find(|state| **state == found);
            let state =
                state.unwrap_or_else(|| panic!("after {events} events: no state since {least}"));
            assert_holds(&store, state);
            // And it continues from there.
            store.put(b"afterwards", b"yes").unwrap();
            let mut later = state.clone();
            later.insert(b"afterwards".to_vec(), b"yes".to_vec());
            store.close().unwrap();
            let store = Store::open_in(Arc::new(left.clone()), None, &options).unwrap();
            assert_eq!(crate::support::contents(&store), later);
            // Nor does another crash, during or after reopening, lose what was there.
            let again = began + random.below(left.events() as u64 - began + 1);
            let left = left.crashed(usize::try_from(again).unwrap(), || random.below(4) < share);
            let store = Store::open_in(Arc::new(left), None, &options)
                .unwrap_or_else(|error| panic!("after {events} and {again} events: {error}"));
            let found = crate::support::contents(&store);
            assert!(found == *state || found == later, "after {events} and {again} events");
        }
    }
    (history.storage.events() + 1) * usize::try_from(times).unwrap()
}

/// `MALKOHA_CRASHES` asks for more of them.
fn crashes() -> usize {
    env::var("MALKOHA_CRASHES").map_or(300, |text| text.parse().expect("a number of crashes"))
}

fn survives(durability: Durability, mut seed: u64) {
    let mut done = 0;
    while done < crashes() {
        done += crash_everywhere(&run(seed, durability, 150), 2);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_every_write_is_synced() {
    survives(Durability::Always, 11);
}

#[test]
fn what_was_synced_is_not_lost_when_few_writes_are() {
    survives(Durability::System, 23);
}

/// The header of the first file is the only place of the seed, without which no record can be told.
#[test]
fn a_new_store_outlives_the_loss_of_any_sector() {
    let storage = Simulated::default();
    let store = Store::open_in(Arc::new(storage.clone()), None, &options()).unwrap();
    for n in 0..5 {
        store.put(&key(n), &[1; 400]).unwrap();
    }
    for events in 0..=storage.events() {
        for lost in 0..12 {
            let mut asked = 0..;
            let left = storage.crashed(events, || asked.next() != Some(lost));
            let store = Store::open_in(Arc::new(left), None, &options())
                .unwrap_or_else(|error| panic!("after {events} events, without {lost}: {error}"));
            let found = crate::support::contents(&store);
            let whole: Contents =
                (0..u32::try_from(found.len()).unwrap()).map(|n| (key(n), vec![1; 400])).collect();
            assert_eq!(found, whole);
        }
    }
}

/// Of files behind the end of the log, a crash may leave any number: no gap among them, which would
/// say that a compaction synced what was before it.
#[test]
fn a_crash_while_files_behind_the_log_are_removed_is_no_damage() {
    let open = |storage: &Simulated| Store::open_in(Arc::new(storage.clone()), None, &options());
    let storage = Simulated::default();
    let store = open(&storage).unwrap();
    (0..600).for_each(|n| store.put(&key(n), &[1; 50]).unwrap());
    let left = storage.crashed(storage.events(), || true);
    let torn = left.open("000000000001.log", true).unwrap();
    torn.write_at(4096, &[0; 4096]).unwrap();
    torn.sync().unwrap();
    let began = left.events();
    let store = open(&left).unwrap();
    assert_eq!(store.recovery().cut_files.len(), 3);
    for events in began..=left.events() {
        let again = open(&left.crashed(events, || true));
        let again = again.unwrap_or_else(|error| panic!("after {events} events: {error}"));
        assert_eq!(again.len(), store.len());
    }
}
