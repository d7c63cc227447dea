//! serde: a filter is the bytes of its file.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Content, Filter};
use crate::table::traits::{Lookup, Stored};

/// As [`to_bytes`](Filter::to_bytes): formats that have byte strings store them as that.
impl<T: Lookup, C: Content> Serialize for Filter<T, C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

/// As [`from_bytes`](Filter::from_bytes): every byte is checked.
impl<'de, T: Stored, C: Content> Deserialize<'de> for Filter<T, C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes(PhantomData))
    }
}

struct Bytes<F>(PhantomData<F>);

impl<'de, T: Stored, C: Content> Visitor<'de> for Bytes<Filter<T, C>> {
    type Value = Filter<T, C>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes of a {}", T::kind(C::IS_MAP).name())
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Filter::from_bytes(bytes).map_err(E::custom)
    }

    /// Formats without byte strings, JSON for one, store them as numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
