//! A set inside a structure that serde stores, as JSON here; and code that takes every set and map.

use std::error::Error;

use malkoha::tables::Lookup;
use malkoha::{Content, CuckooMap, Filter, GrowableCuckooFilter};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Crawl {
    start: String,
    visited: GrowableCuckooFilter,
}

/// The share of the words that the set or map has, of whatever kind it is.
fn share<T: Lookup, C: Content>(filter: &Filter<T, C>, words: &[&str]) -> f64 {
    let found = filter.contains_many(words).into_iter().filter(|&found| found);
    found.count() as f64 / words.len() as f64
}

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let pages = ["/", "/birds", "/birds/koel", "/about"];
    let mut visited = GrowableCuckooFilter::with_capacity(100, 1e-6)?;
    visited.insert_many(&pages[..3])?;
    let crawl = Crawl { start: "https://example.org".into(), visited };

    let json = serde_json::to_string(&crawl)?;
    let crawl_again: Crawl = serde_json::from_str(&json)?;
    println!("{} bytes of JSON about {}", json.len(), crawl_again.start);
    assert!(crawl_again.visited == crawl.visited);

    let mut sizes = CuckooMap::with_capacity(100, 1e-6, 20)?;
    sizes.insert("/about", 70_000)?;
    println!("{} {}", share(&crawl.visited, &pages), share(&sizes, &pages));
    assert_eq!((share(&crawl.visited, &pages), share(&sizes, &pages)), (0.75, 0.25));
    Ok(())
}
