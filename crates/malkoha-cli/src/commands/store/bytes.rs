//! Keys and values on the command line, where not all bytes are text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use crate::output::field;

/// How keys are written.
#[derive(Args, Debug)]
pub(super) struct KeyArgs {
    /// Keys are hex digits, in and out, two a byte: for keys with any bytes
    #[arg(long)]
    pub(super) hex: bool,
}

impl KeyArgs {
    /// The bytes of a key as it was given.
    pub(super) fn key(&self, text: &OsStr) -> Result<Vec<u8>> {
        if self.hex { from_hex(text.as_bytes()) } else { Ok(text.as_bytes().to_vec()) }
    }

    /// The field of a record that has a key.
    pub(super) fn field(&self, key: &[u8]) -> (String, Value) {
        field("key", key, self.hex)
    }
}

/// The bytes that hex digits stand for.
pub(super) fn from_hex(digits: &[u8]) -> Result<Vec<u8>> {
    /// Bytes that are enough to find the place.
    const SHOWN: usize = 40;
    hex::decode(digits).with_context(|| {
        let text = String::from_utf8_lossy(&digits[..digits.len().min(SHOWN)]);
        let rest = if digits.len() > SHOWN { "..." } else { "" };
        format!("'{text}{rest}' is not hex digits, two a byte")
    })
}
