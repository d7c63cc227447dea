//! Sets of texts without errors: over 96 bits of two keyed hashes for each text.

use malkoha::{GrowableCuckooMap, InsertError, KeyHasher};

/// The rate of unsuccessful comparisons. It only costs time; a lower one costs space.
const CANDIDATE_RATE: f64 = 1.0 / 256.0;

/// Two hashes of a text, of independent keys. The map stores those bits of the first that are not
/// implied by the text's place in it, and all of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity(u64, u64);

/// Hashes texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identifier(KeyHasher, KeyHasher);

impl Identifier {
    pub(crate) fn new(hasher: KeyHasher) -> Self {
        // Of another function or another key.
        Self(hasher, KeyHasher::sip13(!hasher.key() ^ (0x6d61_6c6b_6f68_6121 << 64)))
    }

    pub(crate) fn identify(self, text: &[u8]) -> Identity {
        Identity(self.0.hash_bytes(text), self.1.hash_bytes(text))
    }
}

/// The texts that are kept, and their numbers if these are wanted.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    /// From the first hash to the second one, or to a place in `numbered`.
    pub(crate) map: GrowableCuckooMap,
    /// By text: the second hash, and the text's number.
    pub(crate) numbered: Option<Vec<(u64, u64)>>,
}

impl Exact {
    pub(crate) fn new(hasher: KeyHasher, capacity: u64, numbered: bool) -> Self {
        let builder = GrowableCuckooMap::builder()
            .capacity(capacity)
            .fpr(CANDIDATE_RATE)
            .value_bits(u64::BITS)
            .with_hasher(hasher);
        let map =
            builder.build().expect("the rate and the bits are valid, the capacity is checked");
        Self { map, numbered: numbered.then(Vec::new) }
    }

    pub(crate) fn prefetch(&self, identity: Identity) {
        self.map.prefetch_hash(identity.0);
    }

    /// The number of the equal text, or 0 where there are none.
    pub(crate) fn find(&self, Identity(hash, witness): Identity) -> Option<u64> {
        let mut values = self.map.get_hash(hash);
        match &self.numbered {
            None => values.any(|value| value == witness).then_some(0),
            Some(texts) => values.find_map(|at| {
                // A file from outside can have places that do not exist.
                let (known, number) = *texts.get(usize::try_from(at).ok()?)?;
                (known == witness).then_some(number)
            }),
        }
    }

    /// Adds a text that [`find`](Self::find) did not find.
    pub(crate) fn insert(
        &mut self,
        Identity(hash, witness): Identity,
        number: u64,
    ) -> Result<(), InsertError> {
        match &mut self.numbered {
            None => self.map.insert_hash(hash, witness),
            Some(texts) => {
                self.map.insert_hash(hash, texts.len() as u64)?;
                texts.push((witness, number));
                Ok(())
            }
        }
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        let numbered = self.numbered.as_ref().map_or(0, |texts| 16 * texts.capacity());
        self.map.size_in_bytes() + numbered as u64
    }
}
