//! The header is that of the code, and programs in C and Go do with it what they should.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where the crate lies.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn has(program: &str, purpose: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {purpose} needs {program}");
    }
    found
}

/// An installation of the libraries that were built with this test.
struct Installed {
    directory: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // They lie next to this test.
        let test = std::env::current_exe().unwrap();
        let built = test.parent().unwrap();
        let mut install = Command::new(root().join("install"));
        run(install.arg("--built").arg(built).arg(directory.path().join("prefix")));
        Self { directory }
    }

    fn prefix(&self) -> PathBuf {
        self.directory.path().join("prefix")
    }

    /// Compiles a C program as a user would who has no pkg-config, and who links with the archive
    /// if `archive`.
    fn compile(&self, source: &str, archive: bool) -> PathBuf {
        let program = self.directory.path().join("program");
        let library = self.prefix().join("lib");
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-g"])
            .arg(root().join(source))
            .arg("-I")
            .arg(self.prefix().join("include"))
            .arg("-o")
            .arg(&program);
        if archive {
            cc.arg(library.join("libmalkoha.a"));
        } else {
            cc.arg("-L").arg(&library).arg("-lmalkoha");
            cc.arg(format!("-Wl,-rpath,{}", library.display()));
        }
        run(cc.args(["-lpthread", "-lm", "-ldl"]));
        program
    }

    /// The output of a program, run under Valgrind if that is installed.
    fn prints(&self, source: &str, archive: bool, valgrind: bool) -> String {
        let program = self.compile(source, archive);
        let mut command = if valgrind && has("valgrind", "the search for faults of memory") {
            let mut command = Command::new("valgrind");
            command.args(["-q", "--error-exitcode=9", "--leak-check=full"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        let output = run(command.arg(self.directory.path().join("seen.mlk")));
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn the_header_is_that_of_the_code() {
    let config = cbindgen::Config::from_file(root().join("cbindgen.toml")).unwrap();
    let mut header = Vec::new();
    let bindings = cbindgen::generate_with_config(root(), config).unwrap();
    bindings.write(&mut header);
    // In C a heading of that kind would be over every function.
    let header = String::from_utf8(header).unwrap().replace("// # Safety\n//\n", "");
    let path = root().join("include/malkoha.h");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap();
    assert!(header == stored, "run with UPDATE_GOLDEN=1 to rewrite include/malkoha.h");
}

#[test]
fn a_set_in_c() {
    if !has("cc", "the C library") {
        return;
    }
    let expected = "koel: new\nmalkoha: new\nkoel: seen\nhoatzin: new\n3 keys in the file\nkoel: 1, \
                    cuckoo: 0\n";
    let installed = Installed::new();
    assert_eq!(installed.prints("examples/seen.c", false, true), expected);
    assert_eq!(installed.prints("examples/seen.c", true, false), expected);
}

#[test]
fn a_set_in_c_whose_keys_expire() {
    if !has("cc", "the C library") {
        return;
    }
    let expected = "0 s, koel: new\n1200 s, malkoha: new\n3600 s, koel: seen\n\
                    5000 s, malkoha: new\n6000 s, koel: seen\n\
                    2 within 3600 s, koel 541 to 600 s ago\n";
    assert_eq!(Installed::new().prints("examples/recent.c", false, false), expected);
}

#[test]
fn a_map_in_c() {
    if !has("cc", "the C library") {
        return;
    }
    let printed = Installed::new().prints("examples/ranks.c", false, false);
    assert_eq!(printed, "0 lost; all of those with one candidate right\n34 bits a key\n");
}

#[test]
fn faults_are_statuses() {
    if !has("cc", "the C library") {
        return;
    }
    assert_eq!(Installed::new().prints("tests/faults.c", false, true), "all as it should be\n");
}

#[test]
fn a_shared_set_in_go() {
    if Command::new("go").arg("version").output().is_err() || !has("pkg-config", "Go") {
        eprintln!("skipped: the Go example needs go, 1.19 or later: apt-get install golang-go");
        return;
    }
    let installed = Installed::new();
    let library = installed.prefix().join("lib");
    let mut go = Command::new("go");
    go.args(["run", "."])
        .current_dir(root().join("examples/go"))
        .env("PKG_CONFIG_PATH", library.join("pkgconfig"))
        .env("LD_LIBRARY_PATH", &library)
        // Part of what Go's cache goes by, as what pkg-config says is not.
        .env("CGO_LDFLAGS", format!("-L{}", library.display()));
    let output = run(&mut go);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, "no job claimed twice: true\nnearly all claimed: true\n");
}
