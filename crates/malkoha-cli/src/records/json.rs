//! Values of fields of JSON objects.

use serde_json::Value;

use super::Unfit;

/// Appends the value of a field as text: the content of a string, a number as it is written,
/// anything else as JSON.
pub(super) fn push(record: &[u8], name: &str, text: &mut Vec<u8>) -> Result<(), Unfit> {
    let record = match serde_json::from_slice(record) {
        Ok(object @ Value::Object(_)) => object,
        Ok(Value::Array(_)) => return Err(Unfit::JsonPart),
        Err(_) if matches!(record.trim_ascii(), b"{" | b"[") => return Err(Unfit::JsonPart),
        Err(error) if error.to_string().starts_with("recursion limit") => return Err(Unfit::Deep),
        _ => return Err(Unfit::NoJson),
    };
    let value = if name.starts_with('/') { record.pointer(name) } else { record.get(name) };
    match value {
        None | Some(Value::Null) => return Err(Unfit::Lacks),
        Some(Value::String(string)) => text.extend_from_slice(string.as_bytes()),
        Some(value) => text.extend_from_slice(value.to_string().as_bytes()),
    }
    Ok(())
}

/// Whether it is an object that has a member of this name, whatever its value.
pub(super) fn has(record: &[u8], name: &str) -> bool {
    serde_json::from_slice::<Value>(record).is_ok_and(|value| value.get(name).is_some())
}

pub(super) fn is_object(record: &[u8]) -> bool {
    serde_json::from_slice::<Value>(record).is_ok_and(|value| value.is_object())
}
