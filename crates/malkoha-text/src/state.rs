//! States on disk: a header, the index as a filter's or map's file, the numbers. docs/FORMAT.md
//! describes the bytes.

use std::io::{self, Read, Write};

use malkoha::{GrowableCuckooFilter, GrowableCuckooMap, KeyHasher, ReadError, UnionError};

use crate::dedup::{Deduplicator, Index};
use crate::exact::Exact;
use crate::near::{NUMBER_BITS, Near};
use crate::options::{Method, Options, OptionsError};
use crate::{Bands, Shingle};

const SIGNATURE: [u8; 8] = *b"\x8bMLKTXT\n";
const VERSION: u32 = 1;

/// The header's length.
const LENGTH: usize = 96;

/// The hasher of checksums.
const CHECK: KeyHasher = KeyHasher::new(0);

/// A state that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Fewer bytes than a state has.
    #[error("the state is cut off: restore it from a copy")]
    Cut,
    /// The first bytes are not this format's.
    #[error("it is no state of a deduplicator: it does not begin with the format's signature")]
    Signature,
    /// A version that this release does not know.
    #[error("version {0} of states is not supported, only version 1: use a newer malkoha")]
    Version(u32),
    /// The header or the numbers do not match their checksum.
    #[error("the {0} of the state are damaged (checksum mismatch): restore it from a copy")]
    Checksum(&'static str),
    /// A header field with a value that no state has.
    #[error("the state's field '{0}' has an impossible value")]
    Field(&'static str),
    /// Options that cannot be had.
    #[error("the state's options are impossible: {0}")]
    Options(#[from] OptionsError),
    /// The index.
    #[error("the state's index is damaged: {0}")]
    Index(ReadError),
}

impl Deduplicator {
    /// Writes all that is needed to go on with later texts.
    ///
    /// # Errors
    ///
    /// If the writer fails.
    pub fn write_to<W: Write>(&self, mut writer: W) -> io::Result<()> {
        let numbers = match &self.index {
            Index::Exact(exact) => exact.numbered.as_deref().unwrap_or_default(),
            Index::Near(_) => &[],
        };
        writer
            .write_all(&header(&self.options, [self.decided, self.kept, numbers.len() as u64]))?;
        match &self.index {
            Index::Exact(exact) => exact.map.write_to(&mut writer)?,
            Index::Near(Near::Set(filter)) => filter.write_to(&mut writer)?,
            Index::Near(Near::Map(map)) => map.write_to(&mut writer)?,
        }
        let mut check = 0;
        for &(witness, number) in numbers {
            let pair = pair_bytes(witness, number);
            check = chained(check, &pair);
            writer.write_all(&pair)?;
        }
        writer.write_all(&check.to_le_bytes())?;
        writer.flush()
    }

    /// Whether a file begins as states do. It can still be damaged or of a newer version.
    pub fn is_state<R: Read>(mut reader: R) -> bool {
        let mut start = [0; SIGNATURE.len()];
        reader.read_exact(&mut start).is_ok() && start == SIGNATURE
    }

    /// Reads a state. Reads exactly its bytes, and allocates memory only as they arrive.
    ///
    /// # Errors
    ///
    /// If the bytes are not a whole, undamaged state.
    pub fn read_from<R: Read>(mut reader: R) -> Result<Self, StateError> {
        let mut bytes = [0; LENGTH];
        exactly(&mut reader, &mut bytes[..SIGNATURE.len()]).or(Err(StateError::Signature))?;
        exactly(&mut reader, &mut bytes[SIGNATURE.len()..])?;
        let (options, [decided, kept, numbers]) = parse(&bytes)?;
        let is_exact = !matches!(options.method, Method::Near { .. });
        let is_map = is_exact || options.numbered;
        let (hasher, mut index) = if is_map {
            let map = GrowableCuckooMap::read_from(&mut reader).map_err(StateError::Index)?;
            let bits = if is_exact { u64::BITS } else { NUMBER_BITS };
            if map.value_bits() != bits {
                return Err(StateError::Field("value bits of the index"));
            }
            let hasher = map.hasher();
            let numbered = (is_exact && options.numbered).then(Vec::new);
            let exact = |map| Index::Exact(Exact { map, numbered });
            (hasher, if is_exact { exact(map) } else { Index::Near(Near::Map(map)) })
        } else {
            let filter = GrowableCuckooFilter::read_from(&mut reader).map_err(StateError::Index)?;
            (filter.hasher(), Index::Near(Near::Set(filter)))
        };
        if hasher != options.hasher {
            return Err(StateError::Field("hash of the index"));
        }
        let mut check = 0;
        let mut pair = [0; 16];
        for _ in 0..numbers {
            exactly(&mut reader, &mut pair)?;
            check = chained(check, &pair);
            if let Index::Exact(Exact { numbered: Some(texts), .. }) = &mut index {
                texts.push((word(&pair, 0), word(&pair, 8)));
            }
        }
        let mut stored = [0; 8];
        exactly(&mut reader, &mut stored)?;
        if u64::from_le_bytes(stored) != check {
            return Err(StateError::Checksum("numbers"));
        }
        let mut state = Self::with(options, index);
        (state.decided, state.kept) = (decided, kept);
        Ok(state)
    }

    /// Adds what another deduplicator of the same options has kept. Texts that both kept are
    /// duplicates of each other and stay; later ones are compared with those of both.
    ///
    /// # Errors
    ///
    /// If the options differ, or numbers are remembered, which would mean different texts. Nothing
    /// has changed then.
    pub fn unite(&mut self, other: &Self) -> Result<(), UniteError> {
        if self.options.numbered || other.options.numbered {
            return Err(UniteError::Numbered);
        }
        let same = self.options.is_same(&other.options);
        match (&mut self.index, &other.index) {
            (Index::Exact(a), Index::Exact(b)) if same => a.map.union_with(&b.map)?,
            (Index::Near(Near::Set(a)), Index::Near(Near::Set(b))) if same => a.union_with(b)?,
            _ => return Err(UniteError::Options),
        }
        self.decided += other.decided;
        self.kept += other.kept;
        Ok(())
    }
}

fn exactly(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), StateError> {
    reader.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => StateError::Cut,
        _ => error.into(),
    })
}

/// Two deduplicators that could not be united.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UniteError {
    /// Their options differ.
    #[error("the methods, rates or hashes differ: make both with the same options")]
    Options,
    /// They remember numbers.
    #[error("numbers of texts are remembered, and would mean different texts: make both without")]
    Numbered,
    /// Their indexes cannot be united.
    #[error(transparent)]
    Index(#[from] UnionError),
}

fn header(options: &Options, counts: [u64; 3]) -> [u8; LENGTH] {
    let (method, shingle, fields, rate) = match options.method {
        Method::Exact => (0, 0, [0; 3], 0.0),
        Method::Words => (1, 0, [0; 3], 0.0),
        Method::Near { bands, shingle, rate } => {
            let kind = u8::from(matches!(shingle, Shingle::Characters(_)));
            (2, kind, [bands.bands(), bands.rows(), shingle.size()], rate)
        }
        Method::Paragraphs { shortest, least_left } => (3, 0, [shortest, least_left, 0], 0.0),
    };
    let function = options.hasher.function() as u8;
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&SIGNATURE);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&[method, shingle, options.numbered.into(), function]);
    bytes[16..32].copy_from_slice(&options.hasher.key().to_le_bytes());
    for (at, field) in (32..).step_by(4).zip(fields) {
        bytes[at..at + 4].copy_from_slice(&field.to_le_bytes());
    }
    bytes[48..56].copy_from_slice(&rate.to_bits().to_le_bytes());
    for (at, count) in (56..).step_by(8).zip(counts) {
        bytes[at..at + 8].copy_from_slice(&count.to_le_bytes());
    }
    let check = CHECK.hash_bytes(&bytes[..LENGTH - 8]);
    bytes[LENGTH - 8..].copy_from_slice(&check.to_le_bytes());
    bytes
}

fn parse(bytes: &[u8; LENGTH]) -> Result<(Options, [u64; 3]), StateError> {
    if bytes[..8] != SIGNATURE {
        return Err(StateError::Signature);
    }
    let field = |at: usize| (word(bytes, at) & u64::from(u32::MAX)).try_into().unwrap_or(0);
    if field(8) != VERSION {
        return Err(StateError::Version(field(8)));
    }
    if CHECK.hash_bytes(&bytes[..LENGTH - 8]) != word(bytes, LENGTH - 8) {
        return Err(StateError::Checksum("options"));
    }
    let key = u128::from(word(bytes, 24)) << 64 | u128::from(word(bytes, 16));
    let hasher = KeyHasher::from_parts(bytes[15], key).ok_or(StateError::Field("hash"))?;
    let method = match bytes[12] {
        0 => Method::Exact,
        1 => Method::Words,
        2 => Method::Near {
            bands: Bands::new(field(32), field(36))?,
            shingle: match bytes[13] {
                0 => Shingle::Words(field(40)),
                1 => Shingle::Characters(field(40)),
                _ => return Err(StateError::Field("shingle")),
            },
            rate: f64::from_bits(word(bytes, 48)),
        },
        3 => Method::Paragraphs { shortest: field(32), least_left: field(36) },
        _ => return Err(StateError::Field("method")),
    };
    let numbered = match bytes[14] {
        0 => false,
        1 => true,
        _ => return Err(StateError::Field("numbered")),
    };
    let options = Options::of(method).numbered(numbered).hasher(hasher).check()?;
    Ok((options, [word(bytes, 56), word(bytes, 64), word(bytes, 72)]))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn pair_bytes(witness: u64, number: u64) -> [u8; 16] {
    (u128::from(number) << 64 | u128::from(witness)).to_le_bytes()
}

/// A checksum of chunks in their order.
fn chained(check: u64, chunk: &[u8]) -> u64 {
    CHECK.hash_bytes(chunk).wrapping_add(check).rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
