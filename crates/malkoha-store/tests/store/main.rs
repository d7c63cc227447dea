//! The store on real files, and on simulated ones that crash.

#[path = "../../examples/asynchronous.rs"]
mod asynchronous;
mod backups;
mod calls;
mod compression;
mod crash;
mod damage;
#[cfg(target_os = "linux")]
mod device;
mod file_store;
mod files;
#[cfg(target_os = "linux")]
mod full;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod lost;
#[cfg(target_os = "linux")]
mod mounts;
mod operations;
mod ordered;
#[cfg(unix)]
mod places;
mod readers;
mod repair;
mod simulated;
#[cfg(unix)]
mod space;
mod support;
mod swap;
mod tables;
#[cfg(target_os = "linux")]
mod threads;
mod versions;
mod wrapped;
