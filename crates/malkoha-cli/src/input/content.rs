//! The content of inputs, by their first bytes: lines, compressed lines, or no lines at all.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read, Seek};
use std::path::Path;

use encoding_rs_io::DecodeReaderBytes;
use lzma_rust2::XzReader;

use self::Content::NoLines;
use super::decompress::{Members, Unlost, Whole};

/// Formats that begin with a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Gzip,
    Zstd,
    Xz,
    /// Lines behind the mark that some programs write in front of UTF-8.
    Marked,
    Utf16,
    /// The name of a format without lines, and the remedy.
    NoLines(&'static str),
}

/// The byte-order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How files of Parquet begin: a name, and the header of a page.
const PARQUET: &[u8] = b"PAR1\x15";

const BZIP2: Content = NoLines("it is compressed by bzip2: decompress it first");

/// Any digit, in a signature.
const DIGIT: u8 = b'?';

/// One that begins like another comes before it. A line of text should not begin so.
const SIGNATURES: [(&[u8], Content); 27] = [
    (b"\x1f\x8b\x08", Content::Gzip),
    (b"\x28\xb5\x2f\xfd", Content::Zstd),
    (b"\xfd7zXZ\0", Content::Xz),
    (
        b"\x8bMLK\r\n\x1a\n",
        NoLines("it is a filter file, which has no lines: see 'malkoha check --help'"),
    ),
    (b"\x8bMLX\r\n\x1a\n", NoLines("it is the index of a list, which has no lines: name the list")),
    (b"BZh?1AY&SY", BZIP2),
    (b"BZh?\x17\x72\x45\x38", BZIP2),
    (
        b"PK\x03\x04",
        NoLines("it is a zip archive or a workbook: unpack it, or save it as CSV, first"),
    ),
    (PARQUET, NoLines("it is Parquet, which only 'dedup' and 'overlap' read, from a file")),
    (BOM, Content::Marked),
    (b"\xff\xfe\0\0", NoLines("it is UTF-32: convert it to UTF-8 first")),
    (b"\0\0\xfe\xff", NoLines("it is UTF-32: convert it to UTF-8 first")),
    (b"\xff\xfe", Content::Utf16),
    (b"\xfe\xff", Content::Utf16),
    (b"%PDF-?.", NoLines("it is a PDF, which has no lines")),
    (b"\x1f\x9d", NoLines("it is compressed by compress: decompress it first")),
    (b"\xd0\xcf\x11\xe0", NoLines("it is a document of Office: save it as CSV first")),
    (b"7z\xbc\xaf", NoLines("it is a 7z archive: unpack it first")),
    (b"Rar!\x1a", NoLines("it is a RAR archive: unpack it first")),
    (b"\x04\x22\x4d\x18", NoLines("it is compressed by LZ4: decompress it first")),
    (b"\x5d\0\0", NoLines("it is compressed by lzma: decompress it first")),
    (b"LZIP\x01", NoLines("it is compressed by lzip: decompress it first")),
    (b"ARROW1\0\0", NoLines("it is Arrow, which has no lines: write it as CSV first")),
    (b"Obj\x01", NoLines("it is Avro, which has no lines: write it as JSON first")),
    (b"BAM\x01", NoLines("it is BAM: 'samtools view' or 'samtools fastq' makes lines of it")),
    (b"\x7fELF", NoLines("it is a program, which has no lines")),
    (
        b"SQLite format 3\0",
        NoLines("it is an SQLite database: write a table as CSV, as by sqlite3 -csv"),
    ),
];

/// The lines of a source, decompressed if they are compressed.
pub(crate) fn lines(source: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let (content, source) = recognise(source)?;
    let lines: Box<dyn Read + Send> = match content {
        None | Some(Content::Marked | Content::Utf16 | Content::NoLines(_)) => {
            return text(content, source);
        }
        Some(Content::Gzip) => Box::new(Members::of(source)),
        // All frames. Refuses windows above 128 MiB, as the command zstd does.
        Some(Content::Zstd) => Box::new(zstd::Decoder::new(source)?),
        Some(Content::Xz) => Box::new(Unlost::of(XzReader::new(BufReader::new(source), true))),
    };
    let (content, lines) = recognise(Whole(lines))?;
    text(content, lines)
}

/// The lines of a source that is not compressed.
fn text(
    content: Option<Content>,
    mut source: impl Read + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    match content {
        None => Ok(Box::new(source)),
        Some(Content::Marked) => {
            source.read_exact(&mut [0; BOM.len()])?;
            Ok(Box::new(source))
        }
        // Its mark says which of both orders it has. The decoder would pass a mark alone on.
        Some(Content::Utf16) => {
            let mut start = Vec::new();
            source.by_ref().take(3).read_to_end(&mut start)?;
            if start.len() < 3 {
                start.clear();
            }
            Ok(Box::new(DecodeReaderBytes::new(Cursor::new(start).chain(source))))
        }
        Some(Content::NoLines(what)) => Err(io::Error::other(what)),
        Some(_) => Err(io::Error::other("it is compressed twice: decompress it once first")),
    }
}

/// The type of a file, by its first bytes. Leaves it at its beginning.
pub(crate) fn start_of(mut file: &File) -> io::Result<Option<Content>> {
    let (content, _) = recognise(&mut file)?;
    file.rewind()?;
    Ok(content)
}

/// Whether a file begins as one of Parquet.
pub(crate) fn is_parquet(path: &Path) -> bool {
    let mut start = [0; PARQUET.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == PARQUET
}

/// The type of bytes in memory.
pub(super) fn start_of_bytes(bytes: &[u8]) -> Option<Content> {
    let is_it = |start: &[u8]| bytes.len() >= start.len() && begin_alike(bytes, start);
    SIGNATURES.iter().find(|(start, _)| is_it(start)).map(|(_, content)| *content)
}

/// Whether bytes and a signature are the same, as far as both go.
fn begin_alike(bytes: &[u8], signature: &[u8]) -> bool {
    bytes
        .iter()
        .zip(signature)
        .all(|(byte, it)| byte == it || *it == DIGIT && byte.is_ascii_digit())
}

type Rest<R> = Chain<Cursor<Vec<u8>>, R>;

/// Reads only as often as necessary, because somebody may wait for a single line.
fn recognise<R: Read>(mut source: R) -> io::Result<(Option<Content>, Rest<R>)> {
    let mut start = Vec::new();
    let content = loop {
        let is_longer = |bytes: &[u8]| bytes.len() > start.len() && begin_alike(&start, bytes);
        if !SIGNATURES.iter().any(|(bytes, _)| is_longer(bytes)) {
            break start_of_bytes(&start);
        }
        let filled = start.len();
        // Enough for a look at the first records, if they come at once.
        start.resize(filled + 4096, 0);
        let count = read_some(&mut source, &mut start[filled..])?;
        start.truncate(filled + count);
        if count == 0 {
            break start_of_bytes(&start);
        }
    };
    Ok((content, Cursor::new(start).chain(source)))
}

/// The bytes that arrive at once.
fn read_some(mut source: impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        lines(Box::new(bytes))?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_only_begins_like_a_signature_is_lines() {
        for bytes in
            [&b""[..], b"\x1f", b"\x1f\x8bx", b"(", b"(\n", b"\x28\xb5\x2f", b"BZhx1AY&SY", b"PK\n"]
        {
            assert_eq!(read(bytes).unwrap(), bytes);
        }
        for bytes in [b"BZh11AY&SY", b"BZh91AY&SY", b"BZh5\x17\x72\x45\x38\x50\x90"] {
            assert!(read(bytes).unwrap_err().to_string().contains("bzip2"));
        }
    }

    /// A window is allocated, so a frame could ask for all memory.
    #[test]
    fn frames_of_large_windows_are_refused() {
        // A frame of 128 MiB, one of 256, each with an empty block.
        assert_eq!(read(b"\x28\xb5\x2f\xfd\0\x88\x01\0\0").unwrap(), b"");
        assert!(read(b"\x28\xb5\x2f\xfd\0\x90\x01\0\0").is_err());
    }

    /// A source that returns one byte at a time, and must not be asked for more than necessary.
    #[test]
    fn no_more_is_read_than_tells() {
        struct Slow(&'static [u8]);
        impl Read for Slow {
            fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
                let (first, rest) = self.0.split_first().expect("read too far");
                (bytes[0], self.0) = (*first, rest);
                Ok(1)
            }
        }
        assert!(recognise(Slow(b"a")).unwrap().0.is_none());
        assert!(recognise(Slow(b"(\n")).unwrap().0.is_none());
        assert_eq!(recognise(Slow(b"\x28\xb5\x2f\xfd")).unwrap().0, Some(Content::Zstd));
    }
}
