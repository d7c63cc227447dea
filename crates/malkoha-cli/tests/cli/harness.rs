//! A temporary directory, files in it, commands run in it, and what they must say.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use tempfile::TempDir;

pub(crate) const MALKOHA: &str = env!("CARGO_BIN_EXE_malkoha");

/// A directory of its own for one test.
pub(crate) struct Dir(TempDir);

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Dir {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// With one file in it.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        Self::new().and(name, content)
    }

    /// And one more file.
    pub(crate) fn and(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(name, content);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, sorted; hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The command `malkoha` here, with arguments that contain no spaces.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(MALKOHA);
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command.env_remove("COLUMNS");
        command
    }

    /// Runs `malkoha` with nothing on its standard input.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        finish(self.command(arguments).stdin(Stdio::null()))
    }

    /// Runs `malkoha` with `input` on a pipe to its standard input.
    pub(crate) fn pipe(&self, input: impl AsRef<[u8]>, arguments: &str) -> Run {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdin, input) = (child.stdin.take().unwrap(), input.as_ref().to_vec());
        // A command that ends before it has read everything closes the pipe, which is its right.
        let feeder = thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        output.into()
    }

    /// Runs a shell script here, in which `malkoha` is the command.
    pub(crate) fn shell(&self, script: &str) -> Run {
        let mut command = Command::new("bash");
        command.args(["-c", &format!("PATH=${{MALKOHA%/*}}:$PATH\n{script}")]);
        command.env("MALKOHA", MALKOHA).env("LC_ALL", "C").env_remove("COLUMNS");
        finish(command.current_dir(self.0.path()).stdin(Stdio::null()))
    }
}

fn finish(command: &mut Command) -> Run {
    command.output().unwrap().into()
}

impl From<std::process::Output> for Run {
    fn from(output: std::process::Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        Self { code: output.status.code(), stdout: output.stdout, stderr }
    }
}

impl Run {
    /// Exactly this, without complaint, and exit code 0.
    #[track_caller]
    pub(crate) fn prints(self, expected: impl AsRef<[u8]>) {
        self.prints_with(0, expected);
    }

    /// Nothing, without complaint, and exit code 1.
    #[track_caller]
    pub(crate) fn finds_nothing(self) {
        self.prints_with(1, "");
    }

    #[track_caller]
    pub(crate) fn prints_with(self, code: i32, expected: impl AsRef<[u8]>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&self.stdout), text(expected.as_ref()));
        assert!(self.stdout == expected.as_ref(), "bytes that are no text differ");
        assert_eq!((self.stderr.as_str(), self.code), ("", Some(code)));
    }

    /// One line on stderr, nothing on stdout, and exit code 2.
    #[track_caller]
    pub(crate) fn complains(self, line: &str) {
        assert_eq!(self.stderr, format!("malkoha: {line}\n"));
        assert_eq!((String::from_utf8_lossy(&self.stdout).as_ref(), self.code), ("", Some(2)));
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
