//! Similar texts, against brute force over all pairs.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use malkoha_text::{Bands, Decision, Deduplicator, Method, Options, Reason, Shingle};

use crate::made;

/// The set of a text's shingles, by hashes of the standard library.
fn shingles(text: &str, len: usize) -> HashSet<u64> {
    let words: Vec<&str> = text.split(' ').collect();
    let hash = |shingle: &[&str]| BuildHasherDefault::<DefaultHasher>::new().hash_one(shingle);
    words.windows(len.min(words.len())).map(hash).collect()
}

fn jaccard(a: &HashSet<u64>, b: &HashSet<u64>) -> f64 {
    let both = a.intersection(b).count() as f64;
    both / (a.len() as f64 + b.len() as f64 - both)
}

/// Each text is compared with all kept ones before it. Those with a similar one are dropped as
/// often as the curve says, those without any are kept.
#[test]
fn similar_texts_are_dropped_as_the_curve_says() {
    let texts = made::texts(2_500, 5);
    let bands = Bands::for_similarity(0.8).unwrap();
    let mut seen = Deduplicator::new(Options::near(0.8).unwrap().numbered(true)).unwrap();
    let decisions = seen.decide_many(&texts, 2).unwrap();
    let sets: Vec<_> = texts.iter().map(|text| shingles(text, 5)).collect();
    let mut kept: Vec<usize> = Vec::new();
    let (mut expected, mut variance, mut dropped, mut above, mut missed) = (0.0, 0.0, 0.0, 0, 0);
    for (number, decision) in decisions.iter().enumerate() {
        let similar: Vec<f64> = kept.iter().map(|&it| jaccard(&sets[it], &sets[number])).collect();
        let p = 1.0 - similar.iter().fold(1.0, |p, &it| p * (1.0 - bands.probability(it)));
        let is_dropped = matches!(decision, Decision::Drop(_));
        expected += p;
        variance += p * (1.0 - p);
        dropped += f64::from(u8::from(is_dropped));
        if similar.iter().any(|&it| it >= 0.8) {
            above += 1;
            missed += u32::from(!is_dropped);
        }
        match decision {
            Decision::Drop(duplicate) => {
                let of = usize::try_from(duplicate.of.unwrap()).unwrap();
                let true_similarity = jaccard(&sets[of], &sets[number]);
                let Reason::Near { similarity, .. } = duplicate.reason else { panic!() };
                // One band of eight rows is no exact measure.
                assert!(
                    (similarity - true_similarity).abs() < 0.4,
                    "{similarity} {true_similarity}"
                );
                assert!(kept.contains(&of));
            }
            _ => kept.push(number),
        }
    }
    let bound = 5.0 * f64::sqrt(variance) + 1.0;
    assert!(f64::abs(dropped - expected) < bound, "{dropped} dropped, {expected} expected");
    assert!(above > 200 && f64::from(missed) < 0.03 * f64::from(above), "{missed} of {above}");
}

/// Unrelated texts are lost at no more than the rate, however many there are.
#[test]
fn the_rate_of_wrong_losses_is_kept() {
    let bands = Bands::for_similarity(0.8).unwrap();
    let method = Method::Near { bands, shingle: Shingle::Words(2), rate: 0.01 };
    let mut seen = Deduplicator::new(Options::of(method)).unwrap();
    let texts: Vec<String> = (0..100_000).map(|n| format!("a{n} b{n} c{n} d{n}")).collect();
    let decisions = seen.decide_many(&texts, 2).unwrap();
    let lost = decisions.iter().filter(|&it| *it != Decision::Keep).count();
    // Five standard deviations of a binomial distribution above 1 %.
    assert!(lost < 1_158, "{lost} of 100,000");
    assert!(seen.expected_wrong_loss() < 0.01);
    assert!(lost > 100, "the rate costs memory, so it is used: {lost}");
}

#[test]
fn form_does_not_count() {
    let mut seen = Deduplicator::new(Options::near(0.9).unwrap()).unwrap();
    let texts = [
        "",
        " . ",
        ".",
        "😢",
        "\t😢",
        "one",
        "One!",
        "two",
        "the quick brown fox jumps over it",
        "The QUICK, brown fox -- jumps over it.",
        "Caf\u{e9}",
        "cafe\u{301}",
    ];
    let kept: Vec<bool> = seen
        .decide_many(&texts, 1)
        .unwrap()
        .iter()
        .map(|decision| *decision == Decision::Keep)
        .collect();
    assert_eq!(kept, [true, true, false, true, false, true, false, true, true, false, true, false]);
}
