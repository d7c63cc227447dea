//! Filter files that are changed while input is read: saved at the end, from time to time, and
//! before a signal ends the process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use malkoha::tables::Lookup;
use malkoha::{Content, Filter};
use parking_lot::{Condvar, Mutex};

use crate::failure;
use crate::output::{Held, Overwrite, replace_held};
use crate::pipeline::Sink;
use crate::time;

/// Options of commands that change filter files.
#[derive(Args, Clone, Debug)]
pub(crate) struct KeepArgs {
    /// Save FILTER that often while input comes, if it has changed
    #[arg(long, value_name = "TIME", value_parser = time::duration, default_value = "10s")]
    save_every: u64,

    /// If another process changes FILTER, wait until it has ended
    #[arg(long)]
    pub(crate) wait: bool,
}

/// The file that a filter is saved to.
pub(crate) struct Saving {
    path: PathBuf,
    /// The filter has changed since it was saved.
    pub(crate) changed: bool,
    written: Arc<AtomicBool>,
    held: Held,
}

impl Saving {
    pub(crate) fn to(path: &Path, held: Held) -> Self {
        Self { path: path.to_path_buf(), changed: false, written: Arc::default(), held }
    }

    /// Tells in what state an error leaves the file.
    pub(crate) fn state(&self) -> impl Fn() -> &'static str + use<> {
        let written = Arc::clone(&self.written);
        move || {
            if written.load(Ordering::Relaxed) { "as it was saved last" } else { "unchanged" }
        }
    }

    /// Saves the filter, if it has changed.
    pub(crate) fn save<T: Lookup, C: Content>(&mut self, filter: &Filter<T, C>) -> Result<()> {
        if self.changed {
            replace_held(&self.path, Overwrite::Filters, &mut self.held, filter)?;
            self.written.store(true, Ordering::Relaxed);
            self.changed = false;
        }
        Ok(())
    }
}

/// A sink that changes a filter.
pub(crate) trait Save: Sink {
    /// Prints all that was found, and only then saves the filter.
    fn save(&mut self) -> Result<()>;

    /// The same, with what waits for further input.
    fn end(&mut self) -> Result<()> {
        self.save()
    }
}

/// A sink whose filter is saved meanwhile.
pub(crate) struct Kept<S: Save>(Arc<Shared<S>>);

/// Whether what started the process lets it ignore a signal: nohup, or a shell for what runs in the
/// background.
#[cfg(target_os = "linux")]
fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action, the call only writes the present one to `action`, which is as
    // large as it must be, and returns 0 if it has.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_ignored(_: i32) -> bool {
    false
}

/// Bytes of the stack of a thread that saves.
const STACK: usize = 1 << 18;

struct Shared<S> {
    /// None when it has ended.
    sink: Mutex<Option<S>>,
    ended: Condvar,
}

impl<S: Save> Kept<S> {
    pub(crate) fn new(sink: S, keep: &KeepArgs) -> Result<Self> {
        let shared = Arc::new(Shared { sink: Mutex::new(Some(sink)), ended: Condvar::new() });
        let (saved, every) = (Arc::clone(&shared), Duration::from_millis(keep.save_every));
        let thread = || thread::Builder::new().stack_size(STACK);
        thread().spawn(move || saved.save_every(every))?;
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

            let signals = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&it| !is_ignored(it));
            let mut signals = signal_hook::iterator::Signals::new(signals)?;
            let saved = Arc::clone(&shared);
            thread().spawn(move || {
                for signal in signals.forever() {
                    // Locked to the end, so that nothing is printed that is not saved.
                    let mut sink = saved.sink.lock();
                    end_on_error(sink.as_mut().map(Save::end));
                    // Ends the process, as if the signal had not been caught.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            })?;
        }
        Ok(Self(shared))
    }

    /// Ends the sink, and saves it for the last time unless `check` fails. A signal waits for that.
    pub(crate) fn finish(self, check: impl FnOnce() -> Result<()>) -> Result<S> {
        let mut sink = self.0.sink.lock();
        check()?;
        sink.as_mut().map_or(Ok(()), Save::end)?;
        sink.take().context("it was saved, and ends")
    }
}

impl<S: Save> Drop for Kept<S> {
    fn drop(&mut self) {
        *self.0.sink.lock() = None;
        self.0.ended.notify_all();
    }
}

impl<S: Save> Shared<S> {
    fn save_every(&self, every: Duration) {
        let mut sink = self.sink.lock();
        while sink.is_some() {
            if self.ended.wait_for(&mut sink, every).timed_out() {
                end_on_error(sink.as_mut().map(Save::save));
            }
        }
    }
}

/// Ends the process if saving failed, because what is printed would never be remembered.
fn end_on_error(saved: Option<Result<()>>) {
    if let Some(Err(error)) = saved {
        failure::end(&error);
    }
}

impl<S: Save> Sink for Kept<S> {
    type Made = S::Made;

    fn head(&mut self, header: &[u8], file: &str) -> Result<()> {
        self.0.sink.lock().as_mut().map_or(Ok(()), |sink| sink.head(header, file))
    }

    fn take(&mut self, made: &mut S::Made) -> Result<()> {
        self.0.sink.lock().as_mut().map_or(Ok(()), |sink| sink.take(made))
    }
}
