//! What the server gives out the library opens, and the other way round, on both servers.

use std::env;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use malkoha::GrowableCuckooFilter;
use redis::{Connection, cmd};
use tempfile::TempDir;

/// Killed when dropped.
struct Server {
    process: Child,
    port: u16,
    _directory: TempDir,
}

impl Server {
    fn start(kind: &str) -> Self {
        // The module lies beside this test.
        let module = env::current_exe().unwrap().with_file_name("libmalkoha_valkey.so");
        assert!(module.exists(), "no {}: cargo build -p malkoha-valkey", module.display());
        let directory = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = Command::new(format!("{kind}-server"))
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(directory.path())
            .arg("--loadmodule")
            .arg(module)
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("install Debian's {kind}-server: {error}"));
        Self { process, port, _directory: directory }
    }

    fn connect(&self) -> Connection {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            match client.get_connection() {
                Ok(connection) => return connection,
                Err(error) => assert!(Instant::now() < end, "the server does not start: {error}"),
            }
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn dumps_are_the_librarys_files() {
    for kind in ["redis", "valkey"] {
        let server = Server::start(kind);
        let mut connection = server.connect();
        let items: Vec<String> = (0..20_000).map(|n| format!("item{n}")).collect();
        let _: () = cmd("CF.RESERVE").arg("f").arg(100).query(&mut connection).unwrap();
        let added: Vec<bool> =
            cmd("CF.MADD").arg("f").arg(&items).arg(&["often"; 9]).query(&mut connection).unwrap();
        assert!(added.iter().all(|&added| added));

        let bytes: Vec<u8> = cmd("CF.DUMP").arg("f").query(&mut connection).unwrap();
        let mut filter = GrowableCuckooFilter::from_bytes(&bytes).unwrap();
        // One key in a hundred runs or so has the fingerprint of "often", and is counted with it.
        assert!(filter.len() == 20_009 && filter.count("often") >= 9);
        assert!(filter.contains_many(&items).into_iter().all(|found| found));

        // Back to the server, and with more.
        let more: Vec<String> = (20_000..50_000).map(|n| format!("item{n}")).collect();
        filter.insert_many(&more).unwrap();
        let often = filter.count("often");
        assert!(filter.remove("often"));
        assert_eq!(filter.count("often"), often - 1);
        let bytes = filter.to_bytes();
        let _: () = cmd("CF.LOAD").arg("g").arg(&bytes[..]).query(&mut connection).unwrap();
        let found: Vec<bool> =
            cmd("CF.MEXISTS").arg("g").arg(&items).arg(&more).query(&mut connection).unwrap();
        assert!(found.len() == 50_000 && found.into_iter().all(|found| found));
        let count: u64 = cmd("CF.COUNT").arg("g").arg("often").query(&mut connection).unwrap();
        assert_eq!(count, often - 1);
        let same: Vec<u8> = cmd("CF.DUMP").arg("g").query(&mut connection).unwrap();
        assert_eq!(same, bytes);
    }
}
