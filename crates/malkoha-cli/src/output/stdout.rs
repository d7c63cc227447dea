//! Standard output: whether there is one, and whether it is a file that is also read.

use std::io;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use same_file::Handle;

/// An error if the process was started without a standard output, as by `>&-`. Output would be
/// lost, because the runtime puts the null device in its place.
pub(crate) fn is_open() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed"));
    }
    Ok(())
}

/// Whether standard output is this regular file: what is printed would become input without end.
pub(crate) fn is_file(file: &Handle) -> bool {
    let is_regular = file.as_file().metadata().is_ok_and(|metadata| metadata.is_file());
    is_regular && Handle::stdout().is_ok_and(|stdout| stdout == *file)
}

#[cfg(target_os = "linux")]
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before `main` and before the runtime, which would hide what it looks for.
#[cfg(target_os = "linux")]
extern "C" fn look() {
    // SAFETY: this asks for the flags of a descriptor, open or not, and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions that the loader calls with arguments that C
// functions may ignore; this one uses neither the runtime nor memory that is not static.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
