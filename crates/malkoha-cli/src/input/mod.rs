//! Where lines come from: files, or standard input.

mod list;
mod split;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use memchr::memrchr;

pub(crate) use list::List;
pub(crate) use split::split;

use crate::progress::Progress;

/// Bytes that are read at once, unless a line is longer.
const BLOCK: usize = 1 << 20;

/// The name of standard input among paths.
const STDIN: &str = "-";

/// Some files of lines, in their order, and what ends a line in them.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    paths: Vec<PathBuf>,
    separator: u8,
}

impl Inputs {
    /// Lines of `paths`, or of standard input if there are none.
    pub(crate) fn new(mut paths: Vec<PathBuf>, separator: u8) -> Self {
        if paths.is_empty() {
            paths.push(STDIN.into());
        }
        Self { paths, separator }
    }

    pub(crate) fn separator(&self) -> u8 {
        self.separator
    }

    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    pub(crate) fn use_stdin(&self) -> bool {
        self.paths.iter().any(|path| is_stdin(path))
    }

    /// The size of all inputs, if all are regular files.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.paths
            .iter()
            .map(|path| {
                let metadata = path.metadata().ok().filter(|m| m.is_file() && !is_stdin(path))?;
                Some(metadata.len())
            })
            .sum()
    }

    /// Hands over all lines in batches of at most [`split::BATCH`], in their order, without their
    /// terminators.
    pub(crate) fn for_each_batch(
        &self,
        progress: &Progress,
        mut each: impl FnMut(&[&[u8]]) -> Result<()>,
    ) -> Result<()> {
        let mut block = vec![0; BLOCK];
        for path in &self.paths {
            let source = open(path)?;
            self.read_lines(path, source, &mut block, progress, &mut each)?;
        }
        Ok(())
    }

    fn read_lines(
        &self,
        path: &Path,
        mut source: Box<dyn Read>,
        block: &mut Vec<u8>,
        progress: &Progress,
        each: &mut impl FnMut(&[&[u8]]) -> Result<()>,
    ) -> Result<()> {
        // block[..filled] is the beginning of a line that is not complete yet.
        let mut filled = 0;
        loop {
            if filled == block.len() {
                block.resize(block.len() * 2, 0);
            }
            let count = match source.read(&mut block[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result.with_context(|| format!("cannot read {}", name(path)))?,
            };
            progress.advance(count);
            if count == 0 {
                return split(&block[..filled], self.separator, each);
            }
            let end = filled + count;
            match memrchr(self.separator, &block[filled..end]) {
                Some(last) => {
                    let complete = filled + last + 1;
                    split(&block[..complete], self.separator, &mut *each)?;
                    block.copy_within(complete..end, 0);
                    filled = end - complete;
                }
                None => filled = end,
            }
        }
    }
}

/// The path as error messages show it.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".into() } else { format!("'{}'", path.display()) }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

fn open(path: &Path) -> Result<Box<dyn Read>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", name(path)))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("cannot read {}: it is a directory, and lines come from files", name(path));
    }
    Ok(Box::new(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Lines of any length arrive whole, wherever the blocks end.
    #[test]
    fn lines_longer_than_a_block_arrive_whole() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let expected: Vec<Vec<u8>> =
            [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 5].map(|n| vec![b'x'; n]).into();
        file.write_all(&expected.join(&b'\n')).unwrap();
        let inputs = Inputs::new(vec![file.path().into()], b'\n');
        let mut lines = Vec::new();
        inputs
            .for_each_batch(&Progress::hidden(), |batch| {
                lines.extend(batch.iter().map(|line| line.to_vec()));
                Ok(())
            })
            .unwrap();
        assert!(lines == expected);
    }
}
