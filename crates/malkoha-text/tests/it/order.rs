//! The same decisions for any number of threads, and any division into calls and runs.

use malkoha_text::{Bands, Deduplicator, Method, Options, Shingle};

use crate::made;

/// With many false positives, because these depend on the index and not only on texts.
fn methods() -> [Method; 3] {
    let bands = Bands::for_similarity(0.8).unwrap();
    let near = Method::Near { bands, shingle: Shingle::Words(3), rate: 0.1 };
    [Method::Exact, near, Method::Paragraphs { shortest: 0, least_left: 10 }]
}

#[test]
fn threads_calls_and_runs_do_not_matter() {
    let mut texts = made::texts(9_000, 11);
    for text in texts.iter_mut().step_by(2) {
        *text = text.replace(" w1", "\nw1");
    }
    for method in methods() {
        for numbered in [false, true] {
            let options = Options::of(method).numbered(numbered);
            let expected = Deduplicator::new(options).unwrap().decide_many(&texts, 1).unwrap();
            for threads in [2, 7] {
                let mut seen = Deduplicator::new(options).unwrap();
                assert!(
                    seen.decide_many(&texts, threads).unwrap() == expected,
                    "{threads} threads"
                );
            }
            let mut seen = Deduplicator::new(options).unwrap();
            let mut decisions = Vec::new();
            for run in texts.chunks(917) {
                decisions.extend(seen.decide_many(run, 2).unwrap());
                let mut state = Vec::new();
                seen.write_to(&mut state).unwrap();
                seen = Deduplicator::read_from(&state[..]).unwrap();
            }
            assert!(decisions == expected, "ten runs, {method:?}");
        }
    }
}
