//! Standard input that arrives at once is read first, so if it is small its size is known.

use std::io::{self, BufRead, IsTerminal};
use std::time::{Duration, Instant};

use same_file::Handle;

use super::Inputs;
use super::blocks::is_stdout;

/// How long to wait for more.
const PATIENCE: Duration = Duration::from_millis(100);

impl Inputs {
    /// Reads what comes of standard input within a tenth of a second, if it is one of these files,
    /// and not more than some bytes.
    pub(crate) fn read_ahead(&mut self, most: usize) {
        if !self.use_stdin() || self.begun.is_some() || !comes_at_once() {
            return;
        }
        let (mut bytes, mut stdin) = (Vec::new(), io::stdin().lock());
        let deadline = Instant::now() + PATIENCE;
        let ended = loop {
            if bytes.len() >= most || !is_more_there(deadline) {
                break false;
            }
            let count = match stdin.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                // The next reader meets it again, and reports it.
                Err(_) => break false,
                Ok([]) => break true,
                Ok(more) => {
                    bytes.extend_from_slice(more);
                    more.len()
                }
            };
            stdin.consume(count);
        };
        self.begun = Some((bytes.into(), ended));
    }
}

/// Whether it is neither a terminal, where somebody types, nor a file that may still be written.
fn comes_at_once() -> bool {
    let is_output = Handle::stdin().is_ok_and(|stdin| is_stdout(&stdin));
    !is_output && !io::stdin().is_terminal()
}

/// Whether a read returns something, or the end, in time.
#[cfg(unix)]
fn is_more_there(deadline: Instant) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let left = deadline.saturating_duration_since(Instant::now());
    let Ok(left) = Timespec::try_from(left) else { return false };
    let stdin = io::stdin();
    let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut polled, Some(&left)).is_ok_and(|ready| ready > 0)
}

/// If the system cannot tell, nothing is read ahead.
#[cfg(not(unix))]
fn is_more_there(_: Instant) -> bool {
    false
}
