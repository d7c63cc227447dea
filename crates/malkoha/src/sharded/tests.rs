//! Shards under threads: all orders of taking locks under loom, random ones under shuttle, and real
//! threads without them.

use std::sync::Arc;

use super::Sharded;
use crate::ExpiringCuckooFilter;
use crate::concurrent::tests::{check, thread};
use crate::expiry::Expiring;
use crate::table::Fixed;

const TTL: u64 = 150;
/// More than one step of the resolution.
const LATER: u64 = 20;

type Shards = Sharded<Expiring<Fixed>>;

/// Two shards of a few slots, and a hash of each.
fn shards() -> (Arc<Shards>, [u64; 2]) {
    let one = || ExpiringCuckooFilter::with_capacity(8, 0.01, TTL).expect("a few bytes").table;
    let shards = Sharded::of(vec![one(), one()], 8);
    let of = |shard| (1..).map(spread).find(|&hash| shards.number(hash) == shard);
    let hashes = [0, 1].map(|shard| of(shard).expect("one in two"));
    (Arc::new(shards), hashes)
}

fn spread(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// If two threads claim a key, exactly one is told that it is new.
#[test]
fn a_key_is_new_to_one_thread() {
    check(|| {
        let (shards, [hash, _]) = shards();
        let other = Arc::clone(&shards);
        let claims = thread::spawn(move || other.see(hash, false));
        let ours = shards.see(hash, false).expect("has room");
        let theirs = claims.join().unwrap().expect("has room");
        assert!(ours ^ theirs, "new to {}", u8::from(ours) + u8::from(theirs));
    });
}

/// A copy shows one time, although time advances meanwhile and keys are seen in both shards.
#[test]
fn a_copy_is_of_one_time() {
    check(|| {
        let (shards, hashes) = shards();
        let other = Arc::clone(&shards);
        let goes_on = thread::spawn(move || {
            other.see(hashes[0], true).expect("has room");
            other.advance(LATER);
            other.see(hashes[1], true).expect("has room");
        });
        let times: Vec<u64> = shards.snapshot().iter().map(|shard| shard.times.now()).collect();
        goes_on.join().unwrap();
        assert!(times == [0, 0] || times == [LATER, LATER], "copied at {times:?}");
    });
}

/// A key lives as long as promised, whichever shards time has reached.
#[test]
fn a_key_is_found_while_time_goes_on() {
    check(|| {
        let (shards, hashes) = shards();
        let other = Arc::clone(&shards);
        let goes_on = thread::spawn(move || other.advance(TTL));
        for hash in hashes {
            shards.see(hash, false).expect("has room");
            assert!(shards.look(hash, |shard| shard.age(hash)).is_some(), "forgotten early");
        }
        goes_on.join().unwrap();
        for hash in hashes {
            assert!(shards.look(hash, |shard| shard.age(hash)).is_some(), "forgotten early");
        }
        assert_eq!(shards.time(), TTL);
    });
}
