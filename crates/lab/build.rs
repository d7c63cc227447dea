//! Records what is known only at build time, so that every result names its compiler and target
//! features.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo::rustc-env=LAB_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    println!("cargo::rustc-env=LAB_TARGET_FEATURES={features}");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=LAB_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
