//! Other people's filters, loaded from shared objects: `peers/peer.h` has their interface.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use libloading::Library;

use crate::subject::{Access, Contender, Operation, Subject};

type Insert = unsafe extern "C" fn(*mut c_void, *const u64, u64, *mut u64) -> u64;
type Find = unsafe extern "C" fn(*const c_void, *const u64, u64) -> u64;
type Remove = unsafe extern "C" fn(*mut c_void, *const u64, u64) -> u64;

/// The functions of a shared object, which stays loaded until the process ends.
#[derive(Clone, Copy)]
struct Interface {
    name: unsafe extern "C" fn() -> *const c_char,
    new: unsafe extern "C" fn(u64) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    bytes: unsafe extern "C" fn(*const c_void) -> u64,
    insert: Insert,
    find: Find,
    find_many: Option<Find>,
    remove: Option<Remove>,
}

/// A filter of a shared object.
struct Peer {
    interface: Interface,
    filter: *mut c_void,
}

/// The contender of a shared object.
///
/// # Errors
///
/// If the file cannot be loaded, or lacks a function.
pub fn contender(path: &Path) -> Result<Contender> {
    let interface = Interface::load(path).with_context(|| {
        format!("{}: not a peer; crates/lab/peers/peer.h declares one", path.display())
    })?;
    // SAFETY: the interface promises a string that is never freed.
    let name = unsafe { CStr::from_ptr((interface.name)()) }.to_string_lossy().into_owned();
    Ok(Contender::new(&name, false, move |keys| Peer::new(interface, keys)))
}

impl Interface {
    fn load(path: &Path) -> Result<Self> {
        // Without a slash the system would search its own folders.
        let path = path.canonicalize()?;
        // SAFETY: whoever names a file to be measured has its code run, constructors included.
        let library = unsafe { Library::new::<&OsStr>(path.as_ref()) }?;
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types are those of `peer.h`, by which the object is made.
        unsafe {
            Ok(Self {
                name: *library.get(b"peer_name")?,
                new: *library.get(b"peer_new")?,
                free: *library.get(b"peer_free")?,
                bytes: *library.get(b"peer_bytes")?,
                insert: *library.get(b"peer_insert")?,
                find: *library.get(b"peer_find")?,
                find_many: library.get(b"peer_find_many").ok().map(|symbol| *symbol),
                remove: library.get(b"peer_remove").ok().map(|symbol| *symbol),
            })
        }
    }
}

impl Peer {
    fn new(interface: Interface, keys: u64) -> Result<Self> {
        // SAFETY: any number can be asked for.
        let filter = unsafe { (interface.new)(keys) };
        ensure!(!filter.is_null(), "the peer has no filter for {keys} keys");
        Ok(Self { interface, filter })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: the filter is the peer's, and nobody uses it any more.
        unsafe { (self.interface.free)(self.filter) }
    }
}

impl Subject for Peer {
    fn insert(&mut self, key: u64) -> bool {
        let mut refused = 0;
        // SAFETY: the filter is the peer's, the key is a slice of one, and there is room for one.
        unsafe { (self.interface.insert)(self.filter, &raw const key, 1, &raw mut refused) == 0 }
    }

    fn contains(&self, key: u64) -> bool {
        self.find_all(Access::Single, &[key], &mut []) > 0
    }

    fn remove(&mut self, key: u64) -> bool {
        self.remove_all(Access::Single, &[key]) > 0
    }

    fn bytes(&self) -> u64 {
        // SAFETY: the filter is the peer's.
        unsafe { (self.interface.bytes)(self.filter) }
    }

    fn can(&self, operation: Operation, access: Access) -> bool {
        match (operation, access) {
            (Operation::Insert | Operation::Find, Access::Single) => true,
            (Operation::Find, Access::Many) => self.interface.find_many.is_some(),
            (Operation::Remove, Access::Single) => self.interface.remove.is_some(),
            _ => false,
        }
    }

    fn insert_all(&mut self, _: Access, keys: &[u64], refused: &mut Vec<u64>) {
        let before = refused.len();
        refused.resize(before + keys.len(), 0);
        let room = refused[before..].as_mut_ptr();
        // SAFETY: the filter is the peer's, the keys are a slice, and there is room for all.
        let number =
            unsafe { (self.interface.insert)(self.filter, keys.as_ptr(), keys.len() as u64, room) };
        let number = usize::try_from(number).unwrap_or(usize::MAX).min(keys.len());
        refused.truncate(before + number);
    }

    fn find_all(&self, access: Access, keys: &[u64], _: &mut [bool]) -> u64 {
        let many = self.interface.find_many.filter(|_| access == Access::Many);
        let find = many.unwrap_or(self.interface.find);
        // SAFETY: the filter is the peer's, and the keys are a slice.
        unsafe { find(self.filter, keys.as_ptr(), keys.len() as u64) }
    }

    fn remove_all(&mut self, _: Access, keys: &[u64]) -> u64 {
        let Some(remove) = self.interface.remove else { return 0 };
        // SAFETY: as above.
        unsafe { remove(self.filter, keys.as_ptr(), keys.len() as u64) }
    }
}
