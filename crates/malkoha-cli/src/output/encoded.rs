//! Compressed output, of pieces that threads compress side by side.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::path::Path;

use flate2::{Compress, Compression, Crc, FlushCompress};
use lzma_rust2::{XzOptions, XzWriter};
use zstd::Encoder as Zstd;

use crate::input::content::{Content, start_of};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Plain,
    Gzip,
    Zstd,
    Xz,
}

/// A piece of a file, as much compressed as can be without the others.
#[derive(Default)]
pub(crate) struct Piece {
    bytes: Vec<u8>,
    /// Of the text, for gzip.
    crc: Crc,
}

/// The levels of most programs.
const XZ_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

impl Encoding {
    /// How the lines of a file are compressed.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(match start_of(&File::open(path)?)? {
            Some(Content::Gzip) => Self::Gzip,
            Some(Content::Zstd) => Self::Zstd,
            Some(Content::Xz) => Self::Xz,
            _ => Self::Plain,
        })
    }

    /// Compresses a piece of a file.
    pub(crate) fn piece(self, text: &[u8], piece: &mut Piece) -> io::Result<()> {
        piece.bytes.clear();
        match self {
            Self::Plain | Self::Zstd => piece.bytes.extend_from_slice(text),
            Self::Gzip => {
                piece.crc = Crc::new();
                piece.crc.update(text);
                deflate(text, &mut piece.bytes)?;
            }
            // Streams of xz follow each other in a file.
            Self::Xz if text.is_empty() => {}
            Self::Xz => {
                let out = mem::take(&mut piece.bytes);
                let mut writer = XzWriter::new(out, XzOptions::with_preset(XZ_LEVEL))?;
                writer.write_all(text)?;
                piece.bytes = writer.finish()?;
            }
        }
        Ok(())
    }
}

/// Blocks of DEFLATE that depend on no others and end at a byte.
fn deflate(text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let mut compress = Compress::new(Compression::default(), false);
    let mut rest = text;
    while !text.is_empty() {
        out.reserve(rest.len() / 2 + 64);
        let before = compress.total_in();
        compress.compress_vec(rest, out, FlushCompress::Full).map_err(io::Error::other)?;
        let read = usize::try_from(compress.total_in() - before).unwrap_or(rest.len());
        rest = &rest[read..];
        // Room that is left says that all has been flushed.
        if rest.is_empty() && out.len() < out.capacity() {
            break;
        }
    }
    Ok(())
}

/// The pieces of one file.
pub(crate) enum Encoder {
    Plain,
    Gzip {
        crc: Crc,
    },
    /// One frame, because some readers stop after the first. Threads of the library compress parts
    /// of it, whose limits do not depend on their number.
    Zstd(Zstd<'static, Vec<u8>>),
    Xz {
        begun: bool,
    },
}

/// Of zstd. Each takes a part of 8 MiB.
const MOST_THREADS: u32 = 8;

/// A file of gzip without name and time, at the default level, on an unknown system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// The last block of DEFLATE, which is empty.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// A stream of xz without blocks, whose checks would be CRC64.
const EMPTY_XZ: [u8; 32] = [
    0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4, 0xe6, 0xd6, 0xb4, 0x46, 0, 0, 0, 0, 0x1c, 0xdf, 0x44,
    0x21, 0x1f, 0xb6, 0xf3, 0x7d, 1, 0, 0, 0, 0, 4, b'Y', b'Z',
];

impl Encoder {
    /// Begins a file, which several threads compress.
    pub(crate) fn begin(
        encoding: Encoding,
        threads: usize,
        mut out: impl Write,
    ) -> io::Result<Self> {
        Ok(match encoding {
            Encoding::Plain => Self::Plain,
            Encoding::Gzip => {
                out.write_all(&GZIP_HEADER)?;
                Self::Gzip { crc: Crc::new() }
            }
            Encoding::Zstd => {
                let mut zstd = Zstd::new(Vec::new(), ZSTD_LEVEL)?;
                zstd.include_checksum(true)?;
                // One thread, too, compresses parts.
                zstd.multithread(
                    u32::try_from(threads).unwrap_or(u32::MAX).clamp(1, MOST_THREADS),
                )?;
                Self::Zstd(zstd)
            }
            Encoding::Xz => Self::Xz { begun: false },
        })
    }

    pub(crate) fn add(&mut self, piece: &mut Piece, mut out: impl Write) -> io::Result<()> {
        match self {
            Self::Gzip { crc } => crc.combine(&piece.crc),
            Self::Zstd(zstd) => {
                zstd.write_all(&piece.bytes)?;
                out.write_all(zstd.get_ref())?;
                zstd.get_mut().clear();
                return Ok(());
            }
            Self::Xz { begun } => *begun |= !piece.bytes.is_empty(),
            Self::Plain => {}
        }
        out.write_all(&piece.bytes)
    }

    pub(crate) fn end(self, mut out: impl Write) -> io::Result<()> {
        match self {
            Self::Plain | Self::Xz { begun: true } => Ok(()),
            Self::Gzip { crc } => {
                out.write_all(&LAST_BLOCK)?;
                out.write_all(&crc.sum().to_le_bytes())?;
                out.write_all(&crc.amount().to_le_bytes())
            }
            Self::Zstd(zstd) => out.write_all(&zstd.finish()?),
            Self::Xz { begun: false } => out.write_all(&EMPTY_XZ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts that threads of the library compress are of one size, whatever their number.
    #[test]
    fn zstd_does_not_depend_on_threads() {
        let mut random = 1_u64;
        let text: Vec<u8> = (0..20_000_000)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                b"acgtacgt \n"[(random >> 61) as usize]
            })
            .collect();
        let files = [1, 2, 7].map(|threads| {
            let mut file = Vec::new();
            let mut encoder = Encoder::begin(Encoding::Zstd, threads, &mut file).unwrap();
            let mut piece = Piece::default();
            for text in text.chunks(1 << 18) {
                Encoding::Zstd.piece(text, &mut piece).unwrap();
                encoder.add(&mut piece, &mut file).unwrap();
            }
            encoder.end(&mut file).unwrap();
            file
        });
        assert!(files[1..].iter().all(|file| *file == files[0]));
    }
}
