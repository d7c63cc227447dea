//! Requests to many keys at once, until each is answered or its outcome can no longer be known.
//!
//! Any request that a server turned away, or that was never sent, can be sent again. If the
//! connection is lost after sending, the request may have been carried out or not. An acknowledged
//! request is never sent again: while too few replicas have it, the server is asked again how many
//! do, on the same connection, because servers count per connection.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;
use redis::{RedisError, cmd, from_redis_value};

use super::cluster::Cluster;
use super::node::Address;
use super::request::{Answer, Outcome, Policy, Request};

/// Between attempts, while a cluster finds a new primary.
const PAUSE: Duration = Duration::from_millis(50);

struct Exchange<'a> {
    cluster: &'a mut Cluster,
    requests: &'a [Request],
    policy: Policy,
    answers: Vec<Answer>,
    /// Where to ask for a slot that is migrating.
    asking: Vec<Option<Address>>,
    /// An obstacle of the last attempt that only time can remove.
    problem: Option<String>,
}

/// Carries out requests, as far as the policy's patience goes. Returns the answers in their order,
/// and the obstacle that lasted so long that no more was tried.
pub(super) fn exchange(
    cluster: &mut Cluster,
    requests: &[Request],
    policy: Policy,
) -> (Vec<Answer>, Option<String>) {
    let answers = requests.iter().map(|_| Answer::default()).collect();
    cluster.nodes.values_mut().for_each(|node| node.awaiting.clear());
    let asking = vec![None; requests.len()];
    let mut exchange = Exchange { cluster, requests, policy, answers, asking, problem: None };
    let problem = exchange.run();
    (exchange.answers, problem)
}

/// The same; an error if a request was not carried out.
pub(super) fn exchange_all(
    cluster: &mut Cluster,
    requests: &[Request],
    policy: Policy,
) -> anyhow::Result<Vec<Answer>> {
    match exchange(cluster, requests, policy) {
        (answers, Some(problem)) if answers.iter().any(|it| it.outcome.is_missing()) => {
            bail!(problem)
        }
        (answers, _) => Ok(answers),
    }
}

impl Exchange<'_> {
    /// The obstacle that lasted longer than the policy's patience.
    fn run(&mut self) -> Option<String> {
        let (mut since, mut in_vain) = (Instant::now(), 0);
        loop {
            let pending = self.pending();
            if pending == 0 {
                return None;
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
                let seconds = self.policy.patience.as_secs();
                return Some(format!("no progress for {seconds} s: {problem}"));
            }
            // The first time it might be a redirection, which is known now.
            if in_vain > 1 || self.problem.is_some() {
                thread::sleep(PAUSE);
                // A remaining server knows who took over. If nobody answers, the next attempt fails
                // too.
                let _ = self.cluster.refresh();
            }
        }
    }

    fn pending(&self) -> usize {
        let awaiting: usize = self.cluster.nodes.values().map(|node| node.awaiting.len()).sum();
        // An acknowledgement is progress.
        2 * self.answers.iter().filter(|answer| answer.outcome.is_missing()).count() + awaiting
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

    /// The commands for each server; only the question about replicas if everything is
    /// acknowledged.
    fn by_server(&mut self) -> Vec<(Address, Vec<usize>)> {
        let waiting = self.cluster.nodes.iter().filter(|(_, node)| !node.awaiting.is_empty());
        let waiting = waiting.map(|(address, _)| (address.clone(), Vec::new()));
        let mut servers: BTreeMap<Address, Vec<usize>> = waiting.collect();
        for (number, request) in self.requests.iter().enumerate() {
            if !self.answers[number].outcome.is_missing() {
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

    /// The error says whether it may have arrived nevertheless.
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
        if self.waits(address, numbers) {
            let milliseconds = self.policy.patience.as_millis().min(1000);
            let (replicas, milliseconds) = (self.policy.replicas, milliseconds.to_string());
            cmd("WAIT").arg(replicas).arg(milliseconds).write_packed_command(&mut packed);
        }
        let node = self.cluster.node(address).map_err(|error| (error, false))?;
        node.send(&packed).map_err(|error| (error, true))
    }

    fn waits(&self, address: &Address, numbers: &[usize]) -> bool {
        let writes = || numbers.iter().any(|&number| self.requests[number].writes);
        self.cluster.nodes.get(address).is_some_and(|node| !node.awaiting.is_empty())
            || (self.policy.replicas > 0 && writes())
    }

    /// Takes requests off `rest` as their replies come.
    fn receive(&mut self, address: &Address, rest: &mut &[usize]) -> Result<(), RedisError> {
        let waits = self.waits(address, rest);
        while let Some((&number, others)) = rest.split_first() {
            let asking = self.asking[number].is_some();
            let mut replies = Ok(Vec::new());
            let node = self.cluster.node(address)?;
            for _ in &self.requests[number].commands {
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
                Ok(values) => {
                    let unconfirmed = waits && self.requests[number].writes;
                    if unconfirmed {
                        node.awaiting.push(number);
                    }
                    let answer = &mut self.answers[number];
                    (answer.outcome, answer.unconfirmed) = (Outcome::Done(values), unconfirmed);
                }
                Err(error) => self.refused(number, address, error),
            }
        }
        if waits {
            let node = self.cluster.node(address)?;
            match node.receive()?.and_then(|value| Ok(from_redis_value::<u32>(value)?)) {
                Ok(copied) if copied >= self.policy.replicas => {
                    for number in node.awaiting.drain(..) {
                        self.answers[number].unconfirmed = false;
                    }
                }
                Ok(copied) => {
                    let wanted = self.policy.replicas;
                    self.problem = Some(format!(
                        "{address}: {copied} replicas of {wanted} have what was sent"
                    ));
                }
                Err(error) => self.problem = Some(format!("{address}: {error}")),
            }
        }
        Ok(())
    }

    /// Follows redirections, and waits if waiting helps.
    fn refused(&mut self, number: usize, address: &Address, error: RedisError) {
        let target =
            error.redirect_node().map(|(node, slot)| (Address::parse(node, address), slot));
        match (error.code(), target) {
            (Some("MOVED"), Some((Some(to), slot))) => self.cluster.moved(slot, to),
            (Some("ASK"), Some((Some(to), _))) => self.asking[number] = Some(to),
            (Some("TRYAGAIN" | "CLUSTERDOWN" | "LOADING" | "MASTERDOWN" | "READONLY"), _) => {
                self.problem = Some(format!("{address}: {error}"));
            }
            _ => self.answers[number].outcome = Outcome::Refused(error),
        }
    }

    /// The connection is gone, and with it the replies to these.
    fn lost(&mut self, numbers: &[usize]) {
        for &number in numbers {
            self.asking[number] = None;
            if self.policy.resend || !self.requests[number].writes {
                self.answers[number].resent = true;
            } else {
                self.answers[number].outcome = Outcome::Unknown;
            }
        }
    }

    /// Ends a connection. What awaits replicas there can no longer be confirmed.
    fn failed(&mut self, address: &Address, error: &RedisError) {
        self.cluster.nodes.remove(address);
        self.problem = Some(format!("{address}: {error}"));
    }
}
