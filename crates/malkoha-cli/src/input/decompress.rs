//! Additions to decompressors: members behind the first, bytes read before an error, and words for
//! a source that ends too early.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

const GZIP_BUFFER: usize = 1 << 15;

/// All members of a gzip file. Tapes add zeros behind the last one.
pub(super) struct Members<R>(Option<GzDecoder<BufReader<R>>>);

impl<R: Read> Members<R> {
    pub(super) fn of(source: R) -> Self {
        Self(Some(GzDecoder::new(BufReader::with_capacity(GZIP_BUFFER, source))))
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(bytes)?;
            if read > 0 || bytes.is_empty() {
                return Ok(read);
            }
            let Some(mut source) = self.0.take().map(GzDecoder::into_inner) else { break };
            while source.fill_buf()?.first() == Some(&0) {
                source.consume(1);
            }
            self.0 = (!source.fill_buf()?.is_empty()).then(|| GzDecoder::new(source));
        }
        Ok(0)
    }
}

/// A decompressor that, if it fails, loses what it wrote to the same buffer before, and its error.
/// Of .xz, that is whole chunks of up to 64 KiB: of one that is cut, nothing can be read.
pub(super) struct Unlost<R>(R, Option<io::Error>);

impl<R> Unlost<R> {
    pub(super) fn of(decompressor: R) -> Self {
        Self(decompressor, None)
    }
}

impl<R: Read> Read for Unlost<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // No byte of a record's end, so at most a part of an incomplete record is taken for it.
        const UNWRITTEN: u8 = 0xff;
        if let Some(error) = self.1.take() {
            return Err(error);
        }
        bytes.fill(UNWRITTEN);
        self.0.read(bytes).or_else(|error| {
            let written = bytes.iter().rposition(|&byte| byte != UNWRITTEN).map_or(0, |at| at + 1);
            if written == 0 {
                return Err(error);
            }
            self.1 = Some(error);
            Ok(written)
        })
    }
}

/// A decompressor whose errors say in words if its source ends too early.
pub(super) struct Whole<R>(pub(super) R);

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes).map_err(|error| match error.kind() {
            kind @ io::ErrorKind::UnexpectedEof => io::Error::new(kind, "it ends too early"),
            _ => error,
        })
    }
}
