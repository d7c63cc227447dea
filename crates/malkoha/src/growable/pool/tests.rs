//! Blocks that come, change and go, compared with a model; huge pages.

use super::*;

/// Segments of many lengths come, change and go; bytes and addresses are those of a model.
#[test]
fn keeps_the_bytes_of_every_segment() {
    let mut pool = Pool::zeroed(3, 100_000).unwrap();
    let mut model = vec![vec![0_u8; 100_000]; 3];
    let mut addresses: Vec<Address> = (0..3).map(|number| pool.address(number)).collect();
    let mut random = 7_u64;
    let (steps, grows) = if cfg!(miri) { (60, 40) } else { (1_500, 1_000) };
    for step in 0..steps {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(step);
        let any = (random >> 33) as usize;
        let bytes = vec![step.to_le_bytes()[0]; 30_000 + any % 40_000];
        let number = any % model.len();
        if step > grows && model.len() > 1 {
            pool.swap_remove(number);
            model.swap_remove(number);
            addresses.swap_remove(number);
        } else {
            let moved = if step % 4 == 0 {
                model.push(bytes.clone());
                addresses.push(Address::default());
                pool.push(bytes.into())
            } else {
                model[number].clone_from(&bytes);
                pool.replace(number, bytes.into())
            };
            for number in moved {
                addresses[number] = pool.address(number);
            }
        }
        for (number, bytes) in model.iter().enumerate().filter(|_| step % 16 == 0) {
            assert!(pool.bytes(number) == bytes, "segment {number} at step {step}");
            assert_eq!(pool.address(number), addresses[number], "at step {step}");
        }
        assert_eq!(pool.used, model.iter().map(|bytes| bytes.len() as u64).sum::<u64>());
    }
    pool.compact();
    let copy = pool.clone();
    assert!(pool.size_in_bytes() < pool.used + pool.used / 4 + (1 << 16));
    assert!((0..model.len()).all(|number| copy.bytes(number) == model[number]));
}

/// Segments that fit into gaps use them, so little more memory is kept than is used.
#[test]
fn gaps_are_few() {
    let most = 65_536;
    let (mut pool, mut peak) = (Pool::zeroed(200, most / 2).unwrap(), 0);
    for number in (0..200).cycle().take(if cfg!(miri) { 40 } else { 2_000 }) {
        let len = pool.bytes(number).len() * 6 / 5;
        pool.replace(number, vec![1; if len > most { most / 2 } else { len }].into());
        let kept: u64 = pool.chunks.iter().map(Chunk::kept).sum();
        peak = peak.max(pool.used);
        assert!(kept * 10 <= peak * 11 + CHUNK as u64, "{kept} of {peak}");
    }
}

/// The shared chunks that the system keeps from huge pages: flag `nh`.
#[cfg(all(target_os = "linux", feature = "mmap"))]
fn refused(pool: &Pool) -> Vec<bool> {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let is_refused = |chunk: &Chunk| {
        let start = chunk.memory.as_ptr() as usize;
        let mut is_its = false;
        maps.lines().any(|line| {
            let mut words = line.split_ascii_whitespace();
            let first = words.next().unwrap_or_default();
            if let Some((from, to)) = first.split_once('-') {
                let number = |digits| usize::from_str_radix(digits, 16).unwrap();
                is_its = (number(from)..number(to)).contains(&start);
            }
            is_its && first == "VmFlags:" && words.any(|flag| flag == "nh")
        })
    };
    pool.chunks.iter().filter(|chunk| chunk.gaps().is_some()).map(is_refused).collect()
}

#[cfg(all(target_os = "linux", feature = "mmap"))]
#[test]
#[cfg_attr(miri, ignore = "reads a file of the system")]
fn huge_pages_can_be_refused() {
    if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        return;
    }
    let len = 50_000;
    let all = |pool: &Pool, expected: bool| {
        let refused = refused(pool);
        !refused.is_empty() && refused.iter().all(|&it| it == expected)
    };
    let grow = |pool: &mut Pool| {
        (0..50).for_each(|_| drop(pool.push(vec![1; len].into())));
        pool.chunks.len()
    };
    let mut pool = Pool::zeroed(100, len).unwrap();
    let chunks = grow(&mut pool);
    assert!(all(&pool, false));
    pool.set_huge_pages(false);
    assert!(all(&pool, true), "what there is");
    let mut copy = pool.clone();
    assert!(all(&copy, true), "in a copy");
    assert!(grow(&mut copy) > chunks && all(&copy, true), "what comes later");
    (10..200).rev().for_each(|number| copy.swap_remove(number));
    copy.compact();
    grow(&mut copy);
    grow(&mut copy);
    assert!(all(&copy, true), "behind gaps that are gone");
    copy.set_huge_pages(true);
    assert!(all(&copy, false) && all(&pool, true));
}
