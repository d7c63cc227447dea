//! Which server has which key: learned from any server, and again after changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Result, bail};
use redis::{ErrorKind, RedisResult, Value, cmd, from_redis_value};

use super::node::{Address, Door, Node};

/// A server, or the servers of a cluster, and connections to them.
pub(crate) struct Cluster {
    door: Door,
    /// All that were ever heard of.
    known: BTreeSet<Address>,
    nodes: BTreeMap<Address, Node>,
    /// The first and last slot of each stretch; none if the server is alone.
    slots: Vec<(u16, u16, Address)>,
    first: Address,
    /// Refreshes of what is known of a cluster.
    turn: usize,
}

impl Cluster {
    /// A cluster of the servers of these URLs. At least one must answer.
    pub(crate) fn connect(urls: &[String], timeout: Duration) -> Result<Self> {
        let mut doors = urls.iter().map(|url| Door::new(url, timeout));
        let Some(first) = doors.next() else {
            bail!("no server is given: add --url redis://host:port, or set MALKOHA_URL");
        };
        let (door, first) = first?;
        let mut known = BTreeSet::from([first.clone()]);
        for other in doors {
            known.insert(other?.1);
        }
        let (nodes, slots) = (BTreeMap::new(), Vec::new());
        let mut cluster = Self { door, known, nodes, slots, first, turn: 0 };
        if let Err(error) = cluster.refresh() {
            bail!("cannot reach {}: {error}", cluster.first);
        }
        Ok(cluster)
    }

    /// Refreshes which server has which slot, from the first server that answers. In a cluster,
    /// each refresh asks another server first, because one that was cut off from the others has
    /// outdated information.
    pub(super) fn refresh(&mut self) -> RedisResult<()> {
        let mut error = None;
        let mut addresses: Vec<Address> = self.known.iter().cloned().collect();
        if !self.slots.is_empty() {
            self.turn += 1;
            let first = self.turn % addresses.len();
            addresses.rotate_left(first);
        }
        for address in addresses {
            match self.learn_from(&address) {
                Ok(slots) => {
                    self.known.extend(slots.iter().map(|(_, _, address)| address.clone()));
                    if slots.is_empty() {
                        self.first = address;
                    }
                    self.slots = slots;
                    return Ok(());
                }
                Err(problem) => {
                    self.nodes.remove(&address);
                    error = Some(problem);
                }
            }
        }
        Err(error.expect("at least one server is known"))
    }

    fn learn_from(&mut self, address: &Address) -> RedisResult<Vec<(u16, u16, Address)>> {
        let node = self.node(address)?;
        let slots = match node.ask(cmd("CLUSTER").arg("SLOTS")) {
            // "This instance has cluster support disabled": the server is alone.
            Err(error) if error.code() == Some("ERR") => return Ok(Vec::new()),
            slots => slots?,
        };
        if slots == Value::Array(Vec::new()) {
            let alone = (ErrorKind::Client, "the server is in a cluster without slots");
            return Err(alone.into());
        }
        let stretches: Vec<(u16, u16, Vec<Value>)> = from_slots(slots)?;
        let stretches = stretches.into_iter().map(|(first, last, primary)| {
            let mut primary = primary.into_iter();
            let mut next = || primary.next().unwrap_or(Value::Nil);
            let host: Option<String> = from_redis_value(next())?;
            let host = host.filter(|host| !host.is_empty() && host != "?");
            let host = host.unwrap_or_else(|| address.host.clone());
            Ok((first, last, Address { host, port: from_redis_value(next())? }))
        });
        stretches.collect()
    }

    /// The slots of keys, as the servers compute them; 0 where there is only one server.
    pub(super) fn slots_of(&mut self, keys: &[String]) -> Result<Vec<u16>> {
        if self.slots.is_empty() {
            return Ok(vec![0; keys.len()]);
        }
        let mut error = None;
        // Any server can compute them.
        for address in self.known.clone() {
            match self.slots_from(&address, keys) {
                Ok(slots) => return Ok(slots),
                Err(problem) => {
                    self.nodes.remove(&address);
                    error = Some(problem);
                }
            }
        }
        Err(error.expect("at least one server is known").into())
    }

    fn slots_from(&mut self, address: &Address, keys: &[String]) -> RedisResult<Vec<u16>> {
        let node = self.node(address)?;
        let mut packed = Vec::new();
        for key in keys {
            cmd("CLUSTER").arg("KEYSLOT").arg(key).write_packed_command(&mut packed);
        }
        node.send(&packed)?;
        keys.iter().map(|_| Ok(from_redis_value(node.receive()??)?)).collect()
    }

    /// The server of a slot, as far as is known.
    pub(super) fn owner(&self, slot: u16) -> Option<Address> {
        if self.slots.is_empty() {
            return Some(self.first.clone());
        }
        let has_it = |&&(first, last, _): &&(u16, u16, Address)| (first..=last).contains(&slot);
        self.slots.iter().find(has_it).map(|(_, _, address)| address.clone())
    }

    /// Notes that a server reported a moved slot.
    pub(super) fn moved(&mut self, slot: u16, to: Address) {
        self.known.insert(to.clone());
        self.slots.retain(|&(first, last, _)| (first, last) != (slot, slot));
        // Found before the stretch that it lay in.
        self.slots.insert(0, (slot, slot, to));
    }

    /// The connection to a server, made if there is none.
    pub(super) fn node(&mut self, address: &Address) -> RedisResult<&mut Node> {
        if !self.nodes.contains_key(address) {
            let node = Node::connect(&self.door, address)?;
            self.nodes.insert(address.clone(), node);
        }
        Ok(self.nodes.get_mut(address).expect("just inserted"))
    }

    pub(super) fn drop_node(&mut self, address: &Address) {
        self.nodes.remove(address);
    }
}

/// `CLUSTER SLOTS`: for each stretch the first and last slot, then the primary, then replicas.
fn from_slots(value: Value) -> RedisResult<Vec<(u16, u16, Vec<Value>)>> {
    let stretches: Vec<Vec<Value>> = from_redis_value(value)?;
    let stretches = stretches.into_iter().map(|fields| {
        let mut fields = fields.into_iter();
        let mut next = || {
            let missing = (ErrorKind::UnexpectedReturnType, "CLUSTER SLOTS lacks a field");
            fields.next().ok_or(missing)
        };
        let (first, last) = (from_redis_value(next()?)?, from_redis_value(next()?)?);
        Ok((first, last, from_redis_value(next()?)?))
    });
    stretches.collect()
}
