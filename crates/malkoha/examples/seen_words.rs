//! Prints the words of a text that did not come before, as they come.
//!
//! For real input, give `new_words` the lock of the standard input.

use std::collections::HashSet;
use std::error::Error;
use std::io::{self, BufRead};

use malkoha::GrowableCuckooFilter;

/// Calls `each` with every word that was not seen before. A new word is taken for a seen one with
/// a probability of at most one in a million; a seen one is never taken for a new one.
fn new_words(text: impl BufRead, mut each: impl FnMut(&str)) -> Result<(), Box<dyn Error>> {
    let mut seen = GrowableCuckooFilter::builder().fpr(1e-6).build()?;
    for line in text.lines() {
        for word in line?.split_whitespace() {
            if seen.insert_unique(word)? {
                each(word);
            }
        }
    }
    Ok(())
}

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("../README.md");
    let mut new = Vec::new();
    new_words(io::Cursor::new(text), |word| new.push(word.to_owned()))?;
    println!(
        "{} of {} words are new: {}",
        new.len(),
        text.split_whitespace().count(),
        new.join(" ")
    );

    assert_eq!(new.len(), text.split_whitespace().collect::<HashSet<_>>().len());
    Ok(())
}
