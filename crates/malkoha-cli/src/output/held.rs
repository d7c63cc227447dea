//! Files that one process changes at a time.

use std::fs::{File, TryLockError};
use std::io;
#[cfg(target_os = "linux")]
use std::io::Read as _;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt as _;
#[cfg(target_os = "linux")]
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;

use anyhow::{Context, Result, bail};
#[cfg(target_os = "linux")]
use malkoha::KeyHasher;
use same_file::Handle;

use crate::input::{is_dash, name};

/// The file that a path named when this was made, or else its place. While this lives, no other
/// process can hold it.
#[derive(Debug)]
pub(crate) struct Held(
    Option<File>,
    #[expect(dead_code, reason = "held until it is dropped")] Option<Place>,
);

impl Held {
    /// If another process holds the file, waits for that or fails.
    pub(crate) fn of(path: &Path, wait: bool) -> Result<Self> {
        let failed = || format!("cannot lock {}", name(path));
        while !is_dash(path) {
            if !path.is_file() {
                // If the place cannot be held, another file there is found at the end.
                let place = if path.exists() { None } else { Place::of(path).ok() };
                match place {
                    // The file may have come before its place was free.
                    Some(Ok(_)) if path.is_file() => continue,
                    Some(Err(taken)) if wait => taken.wait(),
                    Some(Err(_)) => bail!(
                        "{} is being made by another process: try again later, or wait for it with \
                         --wait",
                        name(path)
                    ),
                    place => return Ok(Self(None, place.and_then(Result::ok))),
                }
                continue;
            }
            let file = File::open(path).with_context(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(error)) if has_no_locks(&error) => {
                    return Ok(Self(Some(file), None));
                }
                Err(TryLockError::WouldBlock) if wait => file.lock().with_context(failed)?,
                Err(TryLockError::WouldBlock) => bail!(
                    "{} is being changed by {}: try again later, or wait for it with --wait",
                    name(path),
                    holder(&file).unwrap_or_else(|| "another process".into())
                ),
                Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
            }
            // Another process may have replaced the file before it was locked.
            let held = Self(Some(file), None);
            if held.is_at(path).with_context(failed)? {
                return Ok(held);
            }
        }
        Ok(Self(None, None))
    }

    /// Holds a file that was written, as far as the system can replace one that is locked.
    pub(super) fn written(file: &File) -> io::Result<Self> {
        if cfg!(unix) {
            file.lock().or_else(|error| if has_no_locks(&error) { Ok(()) } else { Err(error) })?;
        }
        Ok(Self(Some(file.try_clone()?), None))
    }

    /// Whether there was a file.
    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the path names no other file.
    pub(super) fn is_at(&self, path: &Path) -> io::Result<bool> {
        let there = match Handle::from_path(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            there => there?,
        };
        let Some(file) = &self.0 else { return Ok(false) };
        Ok(Handle::from_file(file.try_clone()?)? == there)
    }
}

/// The place of a file that does not exist yet: a socket of the system without a file, which ends
/// with its process.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Place(#[expect(dead_code, reason = "held until it is dropped")] UnixListener);

/// A place that another process holds.
#[cfg(target_os = "linux")]
struct Taken(SocketAddr);

#[cfg(target_os = "linux")]
impl Place {
    fn of(path: &Path) -> io::Result<Result<Self, Taken>> {
        use std::os::unix::fs::MetadataExt;

        let file = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let directory = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
        let directory = directory.metadata()?;
        let hash = KeyHasher::new(directory.ino()).hash_bytes(file.as_encoded_bytes());
        let place = format!("malkoha-{}-{}-{hash:016x}", directory.dev(), directory.ino());
        let address = SocketAddr::from_abstract_name(place)?;
        match UnixListener::bind_addr(&address) {
            Ok(held) => Ok(Ok(Self(held))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(Err(Taken(address))),
            Err(error) => Err(error),
        }
    }
}

#[cfg(target_os = "linux")]
impl Taken {
    /// Returns when the place might be free.
    fn wait(&self) {
        // Nobody answers: the connection ends with its listener.
        let _ = UnixStream::connect_addr(&self.0).and_then(|mut it| it.read(&mut [0]));
        // Another process that does not listen can be there.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Place;

#[cfg(not(target_os = "linux"))]
impl Place {
    fn of(_: &Path) -> io::Result<Result<Self, Self>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn wait(&self) {}
}

/// Whether this is the error of a file system on which no file can be locked.
fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

/// The process that has locked a file, as far as the system tells.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let metadata = file.metadata().ok()?;
    let device = metadata.dev();
    let place = format!(
        "{:02x}:{:02x}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device),
        metadata.ino()
    );
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let fields = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut held = fields.filter(|fields| fields.get(1) == Some(&"FLOCK"));
    let process = held.find(|fields| fields.get(5) == Some(&place.as_str()))?[4].to_owned();
    let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    Some(format!("process {process} ({})", command.trim_end()))
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<String> {
    None
}
