//! Decisions against naive models.

mod made;
mod near;
mod order;
mod states;

use std::collections::{HashMap, HashSet};

use malkoha_text::{Decision, Deduplicator, Method, Options, Reason, words};

use made::Random;

/// Equal texts and equal words, against hash maps.
#[test]
fn equal_texts_are_dropped_and_no_others() {
    let mut random = Random(1);
    let texts: Vec<String> = (0..20_000)
        .map(|_| {
            let space = [" ", "  ", ", "][random.below(3)];
            let symbol = ["", "😢", "😂"][random.below(3)];
            let words: Vec<_> = (0..random.below(5)).map(|_| random.word(20)).collect();
            words.join(space) + space + symbol
        })
        .collect();
    let keys: [fn(&str) -> String; 2] = [str::to_owned, |text| {
        let mut all = String::new();
        words(text, |word| all += &format!("{word} "));
        if all.is_empty() { text.trim().to_owned() } else { all }
    }];
    for (method, key) in [Method::Exact, Method::Words].into_iter().zip(keys) {
        let mut first: HashMap<String, u64> = HashMap::new();
        let mut seen = Deduplicator::new(Options::of(method).numbered(true)).unwrap();
        let decisions = seen.decide_many(&texts, 2).unwrap();
        for ((number, text), decision) in (0..).zip(&texts).zip(decisions) {
            let known = *first.entry(key(text)).or_insert(number);
            match decision {
                Decision::Keep => assert_eq!(known, number, "{text:?}"),
                Decision::Drop(duplicate) => {
                    assert_eq!((duplicate.of, duplicate.reason), (Some(known), Reason::Same));
                    assert_ne!(known, number);
                }
                Decision::Cut { .. } => panic!("nothing is cut"),
            }
        }
        assert_eq!(seen.kept(), first.len() as u64);
        assert_eq!(seen.decided(), 20_000);
    }
}

/// Paragraphs against a set of lines.
#[test]
fn repeated_paragraphs_are_cut() {
    let mut random = Random(2);
    let texts: Vec<String> = (0..5_000)
        .map(|_| {
            let lines = random.below(8);
            let line = |random: &mut Random| {
                (0..random.below(4)).map(|_| random.word(12)).collect::<Vec<_>>().join(" ")
            };
            (0..lines).map(|_| line(&mut random) + ["\n", "\n\n", " \n"][random.below(3)]).collect()
        })
        .collect();
    for (shortest, least_left) in [(0, 0), (4, 0), (0, 6), (5, 1)] {
        let options = Options::of(Method::Paragraphs { shortest, least_left });
        let mut seen = Deduplicator::new(options).unwrap();
        let mut known: HashSet<&str> = HashSet::new();
        for (text, decision) in texts.iter().zip(seen.decide_many(&texts, 3).unwrap()) {
            let (mut left, mut new, mut repeated) = (Vec::new(), HashSet::new(), 0);
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                let short = line.len() < shortest as usize;
                if short || !known.contains(line) && new.insert(line) {
                    left.push(line);
                } else {
                    repeated += 1;
                }
            }
            let bytes: usize = left.iter().map(|line| line.len()).sum();
            match decision {
                Decision::Keep => assert_eq!(repeated, 0),
                Decision::Cut { kept, paragraphs } => {
                    assert_eq!(paragraphs, repeated);
                    let rest: String = kept.into_iter().map(|part| &text[part]).collect();
                    let lines: Vec<_> =
                        rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
                    assert_eq!(lines, left, "{text:?}");
                    assert!(bytes >= least_left as usize);
                }
                Decision::Drop(_) => {
                    assert!(repeated > 0 && bytes < least_left as usize);
                    continue;
                }
            }
            known.extend(new);
        }
    }
}
