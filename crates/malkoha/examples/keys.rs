//! What can be a key: text, numbers, tuples, addresses, paths, and types of your own.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use malkoha::{CuckooFilter, Hashed, Key, KeyHasher};

/// A key by its `Hash`, for a filter that lives no longer than this program.
#[derive(Hash)]
struct Purchase(u32, Vec<u16>);

/// A key type that defines what is hashed, so that it also works for filters in files.
struct Mail(String);

impl Key for Mail {
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        self.0.trim().to_lowercase().hash_with(hasher)
    }
}

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut seen = CuckooFilter::with_capacity(100, 1e-6)?;
    seen.insert("koel")?;
    seen.insert(("ada", 7_u64, Some('x')))?;
    let peer: SocketAddr = "[2001:db8::1]:443".parse()?;
    seen.insert(peer)?;
    seen.insert(Path::new("/usr/share/dict/words"))?;
    seen.insert(Hashed(Purchase(1, vec![5, 8])))?;
    seen.insert(Mail("Ada@Example.org".into()))?;
    println!("{} keys in {} bytes", seen.len(), seen.size_in_bytes());

    assert!(seen.contains(String::from("koel")) && seen.contains(b"koel"));
    assert!(seen.contains(peer) && !seen.contains(peer.ip()));
    assert!(seen.contains(("ada", 7_u64, Some('x'))) && !seen.contains(("ada", 7_u64)));
    assert!(seen.contains(Mail(" ada@example.org\n".into())));
    assert!(!seen.contains(Hashed(Purchase(1, vec![5]))));
    Ok(())
}
