//! The library's own filters as contenders.

use anyhow::{Context, Result, bail};
use malkoha::{Builder, CuckooFilter, Layout};

use crate::subject::Contender;

/// Every layout of the library: name, layout, and the fingerprint bits of about 0.19 % false
/// positives (more where so few bits would not let it fill). A new layout takes one more line.
const LAYOUTS: [(&str, Layout, u32); 7] = [
    ("bucketed", Layout::Bucketed { bucket_size: 4 }, 12),
    ("semi-sorted", Layout::SemiSorted, 12),
    ("gap-windows", Layout::GapWindows, 11),
    ("words", Layout::Words, 12),
    ("bucketed1", Layout::Bucketed { bucket_size: 1 }, 18),
    ("bucketed2", Layout::Bucketed { bucket_size: 2 }, 11),
    ("bucketed8", Layout::Bucketed { bucket_size: 8 }, 13),
];

/// The layouts that are measured by default.
pub const DEFAULT_LAYOUTS: &str = "bucketed,semi-sorted,gap-windows";

/// A layout and the size of its fingerprints.
#[derive(Clone, Debug, PartialEq)]
pub struct Ours {
    /// The name on the command line, such as `bucketed:12`.
    pub name: String,
    /// The layout.
    pub layout: Layout,
    /// Bits per fingerprint.
    pub fingerprint_bits: u32,
}

impl std::str::FromStr for Ours {
    type Err = anyhow::Error;

    /// `layout` or `layout:bits`.
    fn from_str(text: &str) -> Result<Self> {
        let (name, bits) = text.split_once(':').map_or((text, None), |(name, b)| (name, Some(b)));
        let Some(&(name, layout, default_bits)) = LAYOUTS.iter().find(|known| known.0 == name)
        else {
            let known: Vec<&str> = LAYOUTS.iter().map(|known| known.0).collect();
            bail!("no layout {name:?}; there are: {}", known.join(", "));
        };
        let fingerprint_bits = match bits {
            Some(bits) => bits.parse().with_context(|| format!("fingerprint bits in {text:?}"))?,
            None => default_bits,
        };
        Ok(Self::new(name, layout, fingerprint_bits))
    }
}

impl Ours {
    fn new(name: &str, layout: Layout, fingerprint_bits: u32) -> Self {
        Self { name: format!("{name}:{fingerprint_bits}"), layout, fingerprint_bits }
    }

    /// One entry for each layout, with its usual fingerprints.
    pub fn every_layout() -> impl Iterator<Item = Self> {
        LAYOUTS.iter().map(|&(name, layout, bits)| Self::new(name, layout, bits))
    }

    /// The library's builder with these settings, for a number of keys.
    pub fn builder(&self, keys: u64) -> Builder {
        self.builder_from_keys().capacity(keys)
    }

    /// The same, for as many keys as it is given.
    fn builder_from_keys(&self) -> Builder {
        CuckooFilter::builder().layout(self.layout).fingerprint_bits(self.fingerprint_bits)
    }

    /// As a contender.
    #[must_use]
    pub fn contender(self) -> Contender {
        Contender {
            name: self.name.clone(),
            ours: true,
            build: Some({
                let builder = self.builder_from_keys();
                Box::new(move |keys, threads| {
                    Ok(Box::new(builder.clone().threads(threads).build_from(keys)?))
                })
            }),
            make: Box::new(move |keys| Ok(Box::new(self.builder(keys).build()?))),
        }
    }
}
