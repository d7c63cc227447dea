//! Which server has which key: learned from any server, and again after changes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Result, bail};
use redis::{ErrorKind, RedisResult, Value, cmd, from_redis_value, from_redis_value_ref};

use super::node::{Address, Door, Node};

/// A server, or the servers of a cluster, and connections to them.
pub(crate) struct Cluster {
    door: Door,
    /// All that were ever heard of.
    known: BTreeSet<Address>,
    pub(super) nodes: BTreeMap<Address, Node>,
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
        let mut addresses: Vec<Address> = self.known.iter().cloned().collect();
        if !self.slots.is_empty() {
            self.turn += 1;
            let first = self.turn % addresses.len();
            addresses.rotate_left(first);
        }
        let (address, slots) = self.first_answer(addresses, Self::learn_from)?;
        self.known.extend(slots.iter().map(|(_, _, address)| address.clone()));
        if slots.is_empty() {
            self.first = address;
        }
        self.slots = slots;
        Ok(())
    }

    /// The first of these servers that answers, and its answer.
    fn first_answer<T>(
        &mut self,
        addresses: impl IntoIterator<Item = Address>,
        ask: impl Fn(&mut Self, &Address) -> RedisResult<T>,
    ) -> RedisResult<(Address, T)> {
        let mut error = None;
        for address in addresses {
            match ask(self, &address) {
                Ok(answer) => return Ok((address, answer)),
                Err(problem) => {
                    self.nodes.remove(&address);
                    error = Some(problem);
                }
            }
        }
        Err(error.expect("at least one server is known"))
    }

    /// The stretches of slots that a server tells, `CLUSTER SLOTS`: for each the first and last
    /// slot, then the primary, then replicas.
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
        let stretches: Vec<Vec<Value>> = from_redis_value(slots)?;
        let stretches = stretches.iter().map(|stretch| {
            let (first, last, host, port) = match &stretch[..] {
                [first, last, Value::Array(primary), ..] if primary.len() > 1 => {
                    (first, last, &primary[0], &primary[1])
                }
                _ => {
                    let lacks = "CLUSTER SLOTS lacks a field";
                    return Err((ErrorKind::UnexpectedReturnType, lacks).into());
                }
            };
            let host: Option<String> = from_redis_value_ref(host)?;
            let host = host.filter(|host| !host.is_empty() && host != "?");
            let host = host.unwrap_or_else(|| address.host.clone());
            let primary = Address { host, port: from_redis_value_ref(port)? };
            Ok((from_redis_value_ref(first)?, from_redis_value_ref(last)?, primary))
        });
        stretches.collect()
    }

    /// The slots of keys, as the servers compute them; 0 where there is only one server.
    pub(super) fn slots_of(&mut self, keys: &[String]) -> Result<Vec<u16>> {
        if self.slots.is_empty() {
            return Ok(vec![0; keys.len()]);
        }
        let mut packed = Vec::new();
        for key in keys {
            cmd("CLUSTER").arg("KEYSLOT").arg(key).write_packed_command(&mut packed);
        }
        // Any server can compute them.
        let (_, slots) = self.first_answer(self.known.clone(), |cluster, address| {
            let node = cluster.node(address)?;
            node.send(&packed)?;
            keys.iter().map(|_| Ok(from_redis_value(node.receive()??)?)).collect()
        })?;
        Ok(slots)
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
}
