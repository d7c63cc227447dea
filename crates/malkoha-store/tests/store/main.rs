//! The store on real files, and on simulated ones that crash.

#[path = "../../examples/asynchronous.rs"]
mod asynchronous;
mod backups;
mod cold;
mod compression;
mod crash;
mod damage;
mod device;
mod files;
mod library;
mod lost;
mod mounts;
mod operations;
mod places;
mod simulated;
mod space;
mod support;
mod swap;
mod tables;
#[cfg(target_os = "linux")]
mod threads;
mod versions;
