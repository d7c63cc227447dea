//! What can be a key: text, numbers, tuples, addresses, paths, and types of your own.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;

use malkoha::{CuckooFilter, Hashed, Key, KeyHasher};

/// A key for a filter that lives no longer than this program: `Hash` is enough.
#[derive(Hash)]
enum Event {
    Login { user: u32 },
    Purchase { user: u32, items: Vec<u16> },
}

/// A key for filters in files: its own `Key` says what is hashed, in this release and all later ones.
struct Mail(String);

impl Key for Mail {
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        self.0.trim().to_lowercase().hash_with(hasher)
    }
}

#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut seen = CuckooFilter::with_capacity(100, 1e-6)?;
    let peer: SocketAddr = "[2001:db8::1]:443".parse()?;
    seen.insert("koel")?;
    seen.insert(("ada", 7_u64, Some('x')))?;
    seen.insert(peer)?;
    seen.insert(Path::new("/usr/share/dict/words"))?;
    seen.insert(Hashed(Event::Purchase { user: 1, items: vec![5, 8] }))?;
    seen.insert(Mail("Ada@Example.org".into()))?;

    println!("{} keys in {} bytes", seen.len(), seen.size_in_bytes());
    assert!(seen.contains(String::from("koel")) && seen.contains(b"koel"), "the same bytes");
    assert!(seen.contains(&peer) && !seen.contains(peer.ip()));
    assert!(seen.contains(("ada", 7_u64, Some('x'))) && !seen.contains(("ada", 7_u64)));
    assert!(seen.contains(Mail(" ada@example.org\n".into())));
    assert!(!seen.contains(7_u32) && !seen.contains(Hashed(Event::Login { user: 1 })));
    Ok(())
}
