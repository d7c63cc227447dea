//! States are read back, united, and checked.

use malkoha_text::{Bands, Decision, Deduplicator, Method, Options, Shingle, UniteError};

use crate::made;

fn all_options() -> Vec<Options> {
    let near = Options::near(0.8).unwrap();
    let bands = Bands::new(4, 4).unwrap();
    let other = Method::Near { bands, shingle: Shingle::Characters(9), rate: 1e-3 };
    let mut all = vec![Options::exact(), near, Options::paragraphs(), Options::of(other)];
    all.push(Options::of(Method::Words));
    all.extend(all.clone().into_iter().map(|options| options.numbered(true)));
    all
}

fn bytes(state: &Deduplicator) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.write_to(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_damaged_state_is_an_error() {
    let texts = made::texts(40, 3);
    for options in all_options() {
        let mut seen = Deduplicator::new(options).unwrap();
        seen.decide_many(&texts, 1).unwrap();
        let whole = bytes(&seen);
        let back = Deduplicator::read_from(&whole[..]).unwrap();
        assert_eq!(back.options().method(), options.method());
        assert_eq!((back.decided(), back.kept()), (40, seen.kept()));
        assert_eq!(bytes(&back), whole);
        let step = whole.len() / 300 + 1;
        for at in (0..whole.len()).step_by(step).chain(0..100) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert!(Deduplicator::read_from(&damaged[..]).is_err(), "byte {at}");
            assert!(Deduplicator::read_from(&whole[..at]).is_err(), "{at} bytes");
        }
    }
}

#[test]
fn united_states_know_what_both_kept() {
    let texts = made::texts(2_000, 4);
    let (one, other) = texts.split_at(1_000);
    for options in all_options() {
        let [mut a, mut b] = [one, other].map(|texts| {
            let mut seen = Deduplicator::new(options).unwrap();
            seen.decide_many(texts, 1).unwrap();
            seen
        });
        if options.is_numbered() {
            assert!(matches!(a.unite(&b), Err(UniteError::Numbered)));
            continue;
        }
        a.unite(&b).unwrap();
        assert_eq!(a.decided(), 2_000);
        let again = a.decide_many(&texts, 2).unwrap();
        if matches!(options.method(), Method::Paragraphs { .. }) {
            assert!(again.iter().all(|it| !matches!(it, Decision::Cut { .. })));
        } else {
            let kept = again.iter().filter(|it| **it == Decision::Keep).count();
            assert_eq!(kept, 0, "{options:?}");
        }
        b = Deduplicator::new(Options::near(0.7).unwrap()).unwrap();
        assert!(matches!(a.unite(&b), Err(UniteError::Options)));
    }
}
