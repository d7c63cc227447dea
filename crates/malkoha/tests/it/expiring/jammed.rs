//! Keys that were made to crowd a few places.

use std::collections::VecDeque;

use malkoha::GrowableExpiringCuckooFilter;

use crate::support::crafted::{in_one_place, in_one_segment};

/// Crafted keys crowd a few places in a set that grows, shrinks and forgets. Its files are read at
/// every step, and no living key is missed.
#[test]
#[cfg_attr(miri, ignore = "too slow")]
fn jammed_sets_whose_keys_expire_are_saved_and_read() {
    for (fpr, growth) in [(0.5, Some(1.0)), (0.01, Some(2.0)), (0.001, None)] {
        let mut builder = GrowableExpiringCuckooFilter::builder().fpr(fpr).expire_after(30);
        if let Some(growth) = growth {
            builder = builder.growth(growth);
        }
        let mut seen = builder.build().unwrap();
        let (mut crowd, mut jam) = (in_one_segment(14), in_one_place(16));
        let mut recent = VecDeque::new();
        for now in 0..90_u64 {
            seen.advance(now);
            let keys = if now % 40 < 20 { 500 } else { 5 };
            let new: Vec<u64> =
                crowd.by_ref().take(keys).chain(jam.by_ref().take(keys / 25)).collect();
            for &hash in &new {
                seen.insert_hash(hash).unwrap();
            }
            let honest: Vec<u64> = (0..keys as u64)
                .map(|key| (now << 32 | key).wrapping_mul(0xd6e8_feb8_6659_fd93))
                .collect();
            honest.iter().for_each(|&hash| seen.insert_hash(hash).unwrap());
            recent.push_back((now, new, honest));
            while recent.front().is_some_and(|(then, ..)| now - then > 30) {
                recent.pop_front();
            }
            let read = GrowableExpiringCuckooFilter::from_bytes(&seen.to_bytes());
            let read = read.unwrap_or_else(|error| panic!("{fpr} at {now}: {error}"));
            assert!(read == seen && read.len() == seen.len(), "{fpr} at {now}");
            for (then, crowd, honest) in &recent {
                let all = crowd.iter().chain(honest);
                assert!(
                    all.clone().all(|&hash| seen.contains_hash(hash)),
                    "{fpr}, {then} at {now}"
                );
            }
            if now % 7 == 0 {
                // A refresh of all that is old, and a removal of some.
                if let Some((_, crowd, honest)) = recent.pop_front() {
                    let all = crowd.iter().chain(&honest);
                    all.for_each(|&hash| assert!(!seen.refresh_hash(hash).unwrap()));
                    recent.push_back((now, crowd, honest));
                }
            }
        }
        seen.advance(1_000);
        assert!(seen.is_empty());
        let mut gone = recent.iter().flat_map(|(_, crowd, _)| crowd);
        assert!(gone.all(|&hash| !seen.contains_hash(hash)));
    }
}
