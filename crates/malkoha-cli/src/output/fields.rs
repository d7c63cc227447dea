//! Bytes in JSON records, where not all bytes are text.

use serde_json::Value;

/// A field of a record: a string if the bytes are UTF-8, or hex digits under a name that says so.
pub(crate) fn field(name: &str, bytes: &[u8], as_hex: bool) -> (String, Value) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !as_hex => (name.to_owned(), text.into()),
        _ => (format!("{name}_hex"), hex::encode(bytes).into()),
    }
}

/// A record with fields of bytes among its own.
pub(crate) fn with_fields<const N: usize>(
    mut record: Value,
    fields: [(String, Value); N],
) -> Value {
    for (name, value) in fields {
        record[name] = value;
    }
    record
}
