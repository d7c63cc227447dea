//! What the readers in other languages are held to: readers/vectors.json.
#![cfg(all(feature = "serde", not(target_family = "wasm")))]

use std::path::Path;

use malkoha::{AnyFilter, KeyHasher};
use serde_json::{Value, json};

const FILES: [&str; 11] = [
    "map-v1-copies.mlk",
    "map-v1-v33.mlk",
    "set-v1-b2-f7-seed.mlk",
    "set-v1-b4-f12.mlk",
    "set-v1-b8-f32.mlk",
    "set-v1-copies.mlk",
    "set-v1-empty.mlk",
    "set-v1-gap-windows-f11.mlk",
    "set-v1-semi-sorted-f13.mlk",
    "set-v1-sip13-f12.mlk",
    "set-v1-words-f12.mlk",
];
/// At and around the lengths where the hashes do something else.
const LENGTHS: [usize; 26] = [
    0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 32, 33, 63, 64, 65, 96, 97, 128, 129, 200, 240, 241, 1024,
    1025, 3000,
];

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 167 + 13).to_le_bytes()[0]).collect()
}

fn hex(number: u64) -> Value {
    json!(format!("{number:016x}"))
}

fn vectors(root: &Path) -> Value {
    let seeds = [0, 42, 0x9e37_79b9_7f4a_7c15];
    let xxh3: Vec<_> = LENGTHS
        .iter()
        .flat_map(|&length| seeds.map(|seed| (length, seed)))
        .map(|(length, seed)| {
            let hash = KeyHasher::new(seed).hash_bytes(&data(length));
            json!({"bytes": length, "seed": hex(seed), "xxh3": hex(hash)})
        })
        .collect();
    let keys = [0x0706_0504_0302_0100_u64, 0x0f0e_0d0c_0b0a_0908];
    let key = u128::from(keys[1]) << 64 | u128::from(keys[0]);
    let sip13: Vec<_> = LENGTHS
        .iter()
        .map(|&length| {
            let hash = KeyHasher::sip13(key).hash_bytes(&data(length));
            json!({"bytes": length, "key": keys.map(hex), "sip13": hex(hash)})
        })
        .collect();
    let files = FILES.map(|name| {
        let path = format!("crates/malkoha/tests/fixtures/{name}");
        let filter = AnyFilter::open(root.join(&path)).unwrap();
        let answers = (0..2000_u64).map(|key| if filter.contains(key) { '1' } else { '0' });
        json!({"file": path, "answers": answers.collect::<String>()})
    });
    json!({
        "data": "byte i of the hashed data is (167 i + 13) mod 256",
        "keys": "answer i is that for the key i, an integer of 64 bits: 8 bytes, the lowest first",
        "xxh3": xxh3,
        "sip13": sip13,
        "files": files,
    })
}

#[test]
fn the_vectors_of_other_readers_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("readers/vectors.json");
    let vectors = vectors(&root);
    if std::env::var_os("MALKOHA_WRITE_FIXTURES").is_some() && !path.exists() {
        std::fs::write(&path, serde_json::to_string_pretty(&vectors).unwrap() + "\n").unwrap();
    }
    let stored: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(stored == vectors, "files or hashes answer otherwise than they did");
}
