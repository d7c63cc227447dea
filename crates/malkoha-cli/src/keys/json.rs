//! Values of fields of JSON objects.

use serde_json::Value;

/// Appends the value of a field as text: the content of a string, a number as it is written,
/// anything else as JSON. `false` if the line is not an object or lacks the field.
pub(super) fn push(line: &[u8], name: &str, text: &mut Vec<u8>) -> bool {
    let Ok(record) = serde_json::from_slice::<Value>(line) else { return false };
    let value = if name.starts_with('/') { record.pointer(name) } else { record.get(name) };
    match value {
        None | Some(Value::Null) => return false,
        Some(Value::String(string)) => text.extend_from_slice(string.as_bytes()),
        Some(value) => text.extend_from_slice(value.to_string().as_bytes()),
    }
    true
}
