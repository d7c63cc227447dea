//! File systems of their own for tests, where one may mount.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A small file system in memory of its own, as long as this lives.
pub(crate) struct Device(TempDir);

impl Device {
    /// `None`, with a message, where one must not mount: only the administrator may usually.
    pub(crate) fn new(mebibytes: u32) -> Option<Self> {
        let directory = TempDir::new().unwrap();
        let size = format!("size={mebibytes}m");
        if mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], directory.path()) {
            return Some(Self(directory));
        }
        eprintln!("skipped: mounting a tmpfs needs the rights of the administrator");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.path()), "it was mounted by this process");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // Lazily: a store that a failed test left open does not keep it.
        let done = Command::new("umount").arg("-l").arg(self.path()).status();
        assert!(
            done.is_ok_and(|status| status.success()),
            "{} stays mounted",
            self.path().display()
        );
    }
}

fn mount(arguments: &[&str], directory: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(arguments).arg(directory).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// A file system of its own on a loop device, as long as this lives.
pub(crate) struct Loop(Device, TempDir);

impl Loop {
    /// `None`, with a message, where one must not mount, or cannot make one with this command.
    pub(crate) fn new(mkfs: &[&str], mebibytes: u64) -> Option<Self> {
        let (image, directory) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let path = image.path().join("image");
        File::create(&path).unwrap().set_len(mebibytes << 20).unwrap();
        let mut make = Command::new(mkfs[0]);
        let made = make
            .args(&mkfs[1..])
            .arg("-q")
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let is_made = made.is_ok_and(|status| status.success());
        if is_made && mount(&["-o", "loop", &path.to_string_lossy()], directory.path()) {
            return Some(Self(Device(directory), image));
        }
        let what = mkfs[0];
        eprintln!("skipped: it needs {what}, loop devices and the rights of the administrator");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Lets the device fail to read what lies beyond this many MiB.
    pub(crate) fn cut(&self, mebibytes: u64) {
        let image = File::options().write(true).open(self.1.path().join("image"));
        image.unwrap().set_len(mebibytes << 20).unwrap();
    }

    /// Flips a bit of what the file system, which is ext4, knows of a file, so that its checksum
    /// does not match. A second time mends it.
    pub(crate) fn damage_inode(&self, path: &Path) {
        let image = self.1.path().join("image");
        let path = path.strip_prefix(self.path()).unwrap();
        let unmounted = Command::new("umount").arg(self.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "somebody uses it");
        let imap = format!("imap /{}", path.display());
        let found = Command::new("debugfs").args(["-R", &imap]).arg(&image).output();
        let found = String::from_utf8(found.expect("it comes with mkfs.ext4").stdout).unwrap();
        // "located at block 71, offset 0x0c00".
        let (_, place) = found.split_once("located at block ").unwrap();
        let (block, offset) = place.trim().split_once(", offset 0x").unwrap();
        let (block, offset) = (block.parse(), u64::from_str_radix(offset, 16).unwrap());
        let file = File::options().read(true).write(true).open(&image).unwrap();
        let byte = |at: u64| {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            byte[0]
        };
        // From the superblock: the blocks are 1 KiB times a power of two.
        let block: u64 = block.map(|block: u64| (1024 << byte(1024 + 24)) * block).unwrap();
        let time_of_change = block + offset + 12;
        file.write_all_at(&[byte(time_of_change) ^ 1], time_of_change).unwrap();
        assert!(mount(&["-o", "loop", &image.to_string_lossy()], self.path()), "it was mounted");
    }

    /// How many reads the device has done, or failed to do.
    pub(crate) fn reads(&self) -> u64 {
        let counts = format!("/sys/block/{}/stat", self.device());
        let counts = std::fs::read_to_string(counts).unwrap();
        counts.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The name of the device.
    fn device(&self) -> String {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let of = |line: &str| line.split(' ').nth(1).map(Path::new) == Some(self.path());
        let line = mounts.lines().find(|line| of(line)).unwrap();
        line.split(' ').next().unwrap().trim_start_matches("/dev/").to_owned()
    }

    /// Lets the file system, which is ext4, find an error: its journal fails, and nothing can be
    /// written from then on.
    pub(crate) fn fail_journal(&self) {
        assert!(mount(&["-o", "remount,errors=remount-ro"], self.path()), "it is mounted");
        std::fs::write(format!("/sys/fs/ext4/{}/trigger_fs_error", self.device()), "1").unwrap();
    }
}
