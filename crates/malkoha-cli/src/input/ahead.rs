//! Standard input that arrives at once is read first, so if it is small its size is known.

use std::io::{self, Read};

use same_file::Handle;

use super::Inputs;

/// How long to wait for more.
#[cfg(unix)]
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(100);

/// Bytes per read.
const CHUNK: usize = 1 << 16;

impl Inputs {
    /// Reads what comes of standard input within a tenth of a second, if it is one of these files,
    /// and not more than some bytes.
    pub(crate) fn read_ahead(&mut self, most: usize) {
        if !self.use_stdin() || self.begun.is_some() || !comes_at_once() {
            return;
        }
        let (mut bytes, mut stdin) = (Vec::new(), io::stdin().lock());
        let deadline = Deadline::new();
        let ended = loop {
            if bytes.len() >= most || !deadline.is_more_there() {
                break false;
            }
            let filled = bytes.len();
            bytes.resize(filled + CHUNK, 0);
            let count = match stdin.read(&mut bytes[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                // The next reader meets it again, and reports it.
                Err(_) => {
                    bytes.truncate(filled);
                    break false;
                }
                Ok(0) => {
                    bytes.truncate(filled);
                    break true;
                }
                Ok(count) => count,
            };
            bytes.truncate(filled + count);
        };
        self.begun = Some((bytes.into(), ended));
    }
}

/// Whether it is neither a terminal, where somebody types, nor a file that may still be written.
fn comes_at_once() -> bool {
    use std::io::IsTerminal;
    let is_output = Handle::stdin().is_ok_and(|stdin| crate::output::stdout::is_file(&stdin));
    !is_output && !io::stdin().is_terminal()
}

#[cfg(unix)]
struct Deadline(std::time::Instant);

#[cfg(unix)]
impl Deadline {
    fn new() -> Self {
        Self(std::time::Instant::now() + PATIENCE)
    }

    /// Whether a read returns something, or the end, in time.
    fn is_more_there(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let left = self.0.saturating_duration_since(std::time::Instant::now());
        let Ok(left) = Timespec::try_from(left) else { return false };
        let stdin = io::stdin();
        let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
        poll(&mut polled, Some(&left)).is_ok_and(|ready| ready > 0)
    }
}

/// If the system cannot tell, nothing is read ahead.
#[cfg(not(unix))]
struct Deadline;

#[cfg(not(unix))]
impl Deadline {
    fn new() -> Self {
        Self
    }

    fn is_more_there(&self) -> bool {
        false
    }
}
