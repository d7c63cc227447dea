//! One server: its address, and a connection that is dropped at the first error.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use redis::{Client, Cmd, Connection, ConnectionAddr, ConnectionInfo, IntoConnectionInfo};
use redis::{ProtocolVersion, RedisError, RedisResult, Value};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
}

impl Address {
    /// In the form `host:port`, as servers report it. An empty host means the reporting server.
    pub(super) fn parse(text: &str, teller: &Self) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = host.trim_matches(['[', ']']);
        let host = if host.is_empty() || host == "?" { &teller.host } else { host };
        Some(Self { host: host.to_owned(), port: port.parse().ok()? })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// How to reach any server of the cluster: as the URL says, except for the address.
#[derive(Clone, Debug)]
pub(super) struct Door {
    info: ConnectionInfo,
    timeout: Duration,
}

impl Door {
    pub(super) fn new(url: &str, timeout: Duration) -> Result<(Self, Address)> {
        // The URL may have a password, so it is not repeated.
        let info = url.into_connection_info().context(
            "the URL is not one of a server: write redis://[user:password@]host:port, or rediss://",
        )?;
        let address = match info.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                Address { host: host.clone(), port: *port }
            }
            _ => bail!("the URL must have a host and a port: redis://host:port"),
        };
        // In the newer protocol the replies would not be numbers.
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
        Ok((Self { info: info.set_redis_settings(settings), timeout }, address))
    }

    fn info(&self, address: &Address) -> ConnectionInfo {
        let Address { host, port } = address.clone();
        let addr = match self.info.addr().clone() {
            ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
                ConnectionAddr::TcpTls { host, port, insecure, tls_params }
            }
            _ => ConnectionAddr::Tcp(host, port),
        };
        self.info.clone().set_addr(addr)
    }
}

/// A connection. After an error of `send` or `receive` it must be dropped, because late replies
/// would be taken for others.
pub(super) struct Node {
    connection: Connection,
    /// The numbers of acknowledged requests that too few replicas may have. No other connection can
    /// ask for that.
    pub(super) awaiting: Vec<usize>,
}

impl Node {
    pub(super) fn connect(door: &Door, address: &Address) -> RedisResult<Self> {
        let connection =
            Client::open(door.info(address))?.get_connection_with_timeout(door.timeout)?;
        connection.set_read_timeout(Some(door.timeout))?;
        connection.set_write_timeout(Some(door.timeout))?;
        Ok(Self { connection, awaiting: Vec::new() })
    }

    pub(super) fn send(&mut self, packed: &[u8]) -> RedisResult<()> {
        self.connection.send_packed_command(packed)
    }

    /// The next reply; the outer error is the connection's, the inner one the server's.
    pub(super) fn receive(&mut self) -> RedisResult<RedisResult<Value>> {
        match self.connection.recv_response().and_then(Value::extract_error) {
            Err(error) if is_servers(&error) => Ok(Err(error)),
            Err(error) => Err(error),
            Ok(value) => Ok(Ok(value)),
        }
    }

    pub(super) fn ask(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.send(&command.get_packed_command())?;
        self.receive()?
    }
}

/// Whether a server reported it, so the connection still works.
fn is_servers(error: &RedisError) -> bool {
    error.code().is_some()
}
