//! Cutting bytes into lines.

use anyhow::Result;
use memchr::memchr_iter;

/// Lines that are looked up together. Enough to keep many cache misses in flight, few enough that
/// the lines themselves stay in the fastest caches.
pub(crate) const BATCH: usize = 1024;

/// Hands over the lines of `bytes`, without terminators, in batches of at most [`BATCH`].
///
/// A last line without a terminator is a line; an empty line is one too.
pub(crate) fn split<'a>(
    bytes: &'a [u8],
    separator: u8,
    mut each: impl FnMut(&[&'a [u8]]) -> Result<()>,
) -> Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut start = 0;
    for end in memchr_iter(separator, bytes) {
        batch.push(&bytes[start..end]);
        start = end + 1;
        if batch.len() == BATCH {
            each(&batch)?;
            batch.clear();
        }
    }
    if start < bytes.len() {
        batch.push(&bytes[start..]);
    }
    if batch.is_empty() { Ok(()) } else { each(&batch) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        let mut lines = Vec::new();
        split(bytes, b'\n', |batch| {
            lines.extend_from_slice(batch);
            Ok(())
        })
        .unwrap();
        lines
    }

    #[test]
    fn a_terminator_ends_a_line_and_begins_none() {
        assert_eq!(lines(b""), [b""; 0]);
        assert_eq!(lines(b"\n"), [b""]);
        assert_eq!(lines(b"a"), [b"a"]);
        assert_eq!(lines(b"a\n"), [b"a"]);
        assert_eq!(lines(b"\na\r\n\nb"), [&b""[..], b"a\r", b"", b"b"]);
    }

    #[test]
    fn batches_are_full_but_the_last() {
        let bytes = b"x\n".repeat(2 * BATCH + 1);
        let mut sizes = Vec::new();
        split(&bytes, b'\n', |batch| {
            sizes.push(batch.len());
            Ok(())
        })
        .unwrap();
        assert_eq!(sizes, [BATCH, BATCH, 1]);
    }
}
