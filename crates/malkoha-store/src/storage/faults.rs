//! How often a thread waited for the device.

/// Times that this thread looked at a mapped page that was not in memory. Not the time that it
/// took: that is long, too, where other threads have the processor.
#[cfg(target_os = "linux")]
pub(crate) fn major_faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a live value of this type, of which zeros are one.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_majflt
    }
}

/// Not known on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn major_faults() -> i64 {
    0
}
