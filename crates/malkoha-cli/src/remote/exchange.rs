//! Requests to many keys at once, until each is answered or nobody can know any more.
//!
//! A request that a server turned away, or that was never sent, can be sent again, whatever it is. One
//! that was sent and whose connection was lost may have been carried out or not.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use redis::{RedisError, Value, cmd, from_redis_value};

use super::cluster::Cluster;
use super::node::Address;

/// Between attempts, while a cluster finds a new primary.
const PAUSE: Duration = Duration::from_millis(50);

/// How requests are sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// For how long there may be no progress.
    pub(crate) patience: Duration,
    /// Replicas that must have a write before it counts.
    pub(crate) replicas: u32,
    /// Whether to send a request again that may have been carried out.
    pub(crate) resend: bool,
}

/// Commands for one key.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) slot: u16,
    pub(super) commands: Vec<Vec<u8>>,
    pub(super) writes: bool,
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The reply to each command.
    Done(Vec<Value>),
    /// The server's error.
    Refused(RedisError),
    /// It may have been carried out or not.
    Unknown,
}

/// Outcomes, in the order of the requests.
#[derive(Debug)]
pub(super) struct Outcomes {
    pub(super) outcomes: Vec<Outcome>,
    /// Whether the request was sent again though it may have been carried out before.
    pub(super) resent: Vec<bool>,
}

struct Exchange<'a> {
    cluster: &'a mut Cluster,
    requests: &'a [Request],
    policy: Policy,
    outcomes: Vec<Option<Outcome>>,
    resent: Vec<bool>,
    /// Where to ask, for a slot that is on its way.
    asking: Vec<Option<Address>>,
    /// What the last attempt met that only time can mend.
    problem: Option<String>,
}

/// Carries out requests; an error if one cannot be, for as long as the policy's patience.
pub(super) fn exchange(
    cluster: &mut Cluster,
    requests: &[Request],
    policy: Policy,
) -> Result<Outcomes> {
    let count = requests.len();
    let mut exchange = Exchange {
        cluster,
        requests,
        policy,
        outcomes: (0..count).map(|_| None).collect(),
        resent: vec![false; count],
        asking: vec![None; count],
        problem: None,
    };
    exchange.run()?;
    let Exchange { outcomes, resent, .. } = exchange;
    Ok(Outcomes { outcomes: outcomes.into_iter().flatten().collect(), resent })
}

impl Exchange<'_> {
    fn run(&mut self) -> Result<()> {
        let (mut since, mut in_vain) = (Instant::now(), 0);
        loop {
            let pending = self.pending();
            if pending == 0 {
                return Ok(());
            }
            self.attempt();
            if self.pending() < pending {
                (since, in_vain) = (Instant::now(), 0);
                continue;
            }
            in_vain += 1;
            if since.elapsed() > self.policy.patience {
                let problem = self.problem.take();
                let problem = problem.as_deref().unwrap_or("servers redirect in circles");
                bail!("no progress for {} s: {problem}", self.policy.patience.as_secs());
            }
            // The first time it may be a redirection, which is known now.
            if in_vain > 1 || self.problem.is_some() {
                thread::sleep(PAUSE);
                // Whoever is left knows who took over; if nobody answers, the next attempt fails too.
                let _ = self.cluster.refresh();
            }
        }
    }

    fn pending(&self) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.is_none()).count()
    }

    /// Sends what is pending, to all servers before the first reply is read.
    fn attempt(&mut self) {
        self.problem = None;
        let mut sent = Vec::new();
        for (address, numbers) in self.by_server() {
            match self.send(&address, &numbers) {
                Ok(()) => sent.push((address, numbers)),
                Err((error, may_have_arrived)) => {
                    numbers.iter().for_each(|&number| self.asking[number] = None);
                    if may_have_arrived {
                        self.lost(&numbers);
                    }
                    self.failed(&address, &error);
                }
            }
        }
        for (address, numbers) in sent {
            let mut rest = &numbers[..];
            if let Err(error) = self.receive(&address, &mut rest) {
                self.lost(rest);
                self.failed(&address, &error);
            }
        }
    }

    fn by_server(&mut self) -> Vec<(Address, Vec<usize>)> {
        let mut servers: BTreeMap<Address, Vec<usize>> = BTreeMap::new();
        for (number, request) in self.requests.iter().enumerate() {
            if self.outcomes[number].is_some() {
                continue;
            }
            let owner = self.cluster.owner(request.slot);
            if let Some(address) = self.asking[number].clone().or(owner) {
                servers.entry(address).or_default().push(number);
            } else {
                self.problem = Some(format!("no server has slot {}", request.slot));
            }
        }
        servers.into_iter().collect()
    }

    /// Whether it may have arrived nevertheless comes with the error.
    fn send(&mut self, address: &Address, numbers: &[usize]) -> Result<(), (RedisError, bool)> {
        let mut packed = Vec::new();
        for &number in numbers {
            for command in &self.requests[number].commands {
                if self.asking[number].is_some() {
                    cmd("ASKING").write_packed_command(&mut packed);
                }
                packed.extend(command);
            }
        }
        if self.waits(numbers) {
            let milliseconds = self.policy.patience.as_millis().min(1000);
            let (replicas, milliseconds) = (self.policy.replicas, milliseconds.to_string());
            cmd("WAIT").arg(replicas).arg(milliseconds).write_packed_command(&mut packed);
        }
        let node = self.cluster.node(address).map_err(|error| (error, false))?;
        node.send(&packed).map_err(|error| (error, true))
    }

    fn waits(&self, numbers: &[usize]) -> bool {
        self.policy.replicas > 0 && numbers.iter().any(|&number| self.requests[number].writes)
    }

    /// Takes requests off `rest` as their replies come.
    fn receive(&mut self, address: &Address, rest: &mut &[usize]) -> Result<(), RedisError> {
        let all = *rest;
        let mut done = Vec::new();
        while let Some((&number, others)) = rest.split_first() {
            let asking = self.asking[number].is_some();
            let mut replies = Ok(Vec::new());
            for _ in &self.requests[number].commands {
                let node = self.cluster.node(address)?;
                if asking {
                    node.receive()??;
                }
                match (node.receive()?, &mut replies) {
                    (Ok(value), Ok(values)) => values.push(value),
                    (Err(error), Ok(_)) => replies = Err(error),
                    (_, Err(_)) => {}
                }
            }
            *rest = others;
            self.asking[number] = None;
            match replies {
                Ok(values) => done.push((number, values)),
                Err(error) => self.refused(number, address, error),
            }
        }
        if self.waits(all) {
            // Until the replicas have it, nothing is done.
            let copied = self.cluster.node(address).and_then(|node| node.receive()?);
            let copied = copied.and_then(|value| Ok(from_redis_value::<u32>(value)?));
            if !copied.as_ref().is_ok_and(|&copied| copied >= self.policy.replicas) {
                let numbers: Vec<usize> = done.iter().map(|&(number, _)| number).collect();
                self.lost(&numbers);
                copied?;
                let error = (redis::ErrorKind::Client, "fewer replicas than --replicas have it");
                return Err(error.into());
            }
        }
        for (number, values) in done {
            self.outcomes[number] = Some(Outcome::Done(values));
        }
        Ok(())
    }

    /// Follows redirections, waits where waiting helps.
    fn refused(&mut self, number: usize, address: &Address, error: RedisError) {
        let target =
            error.redirect_node().map(|(node, slot)| (Address::parse(node, address), slot));
        match (error.code(), target) {
            (Some("MOVED"), Some((Some(to), slot))) => self.cluster.moved(slot, to),
            (Some("ASK"), Some((Some(to), _))) => self.asking[number] = Some(to),
            (Some("TRYAGAIN" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "READONLY"), _) => {
                self.problem = Some(format!("{address}: {error}"));
            }
            _ => self.outcomes[number] = Some(Outcome::Refused(error)),
        }
    }

    /// The connection is gone, and with it the replies to these.
    fn lost(&mut self, numbers: &[usize]) {
        for &number in numbers {
            self.asking[number] = None;
            if self.policy.resend || !self.requests[number].writes {
                self.resent[number] = true;
            } else {
                self.outcomes[number] = Some(Outcome::Unknown);
            }
        }
    }

    fn failed(&mut self, address: &Address, error: &RedisError) {
        self.cluster.drop_node(address);
        self.problem = Some(format!("{address}: {error}"));
    }
}
