//! `malkoha networks`: lists of networks of any syntax to the smallest one.

use std::net::{Ipv4Addr, Ipv6Addr};

use anyhow::{Context, Result};
use clap::Args;

use crate::arguments::MergeArgs;
use crate::failure::{CANNOT_WRITE, Outcome};
use crate::output::LineWriter;
use crate::records::range::Range;
use crate::screen::Networks;

const AFTER_HELP: &str = "\
Reads addresses, networks with a length or a mask, ranges, and the lines of
ipset, iptables, nftables, nginx, Apache, MikroTik, P2P lists and the like. In a
line, what counts is the first network, and those that follow it directly. Lines
with two meanings, as '10.0.0.1 10.0.0.9' or '10.1.2.3 24', are only counted,
like commands that take something out, rules that log or change addresses, and
destinations of rules for what comes in.
Verdicts and directions are read in rules alone, and logs have one address.
Prints the fewest networks that have the same addresses, in ascending order, one
of one address without its length. What --allow lists is taken out, and so are
exceptions ('allow', 'nomatch', 'ACCEPT'), which are counted on stderr.

Exit code 1 if no address is left.

Examples:
  malkoha networks drop.txt edrop.txt iptables.save > all.txt
  malkoha networks --allow ours.txt ranges.txt | sed 's/^/add block /'";

/// Merge lists of networks, in any syntax, to the smallest one
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    merge: MergeArgs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut networks = Networks::default();
    arguments.merge.read(|texts, allowed| networks.add(texts, false, allowed))?;
    let mut out = LineWriter::stdout(b'\n', false)?;
    let mut printed = 0_u64;
    for range in networks.part().ranges() {
        let (bits, first, last) = match range {
            Range::V4(first, last) => (u32::BITS, first.into(), last.into()),
            Range::V6(first, last) => (u128::BITS, first, last),
        };
        split(bits, first, last, |first, len| {
            printed += 1;
            let mut line = match u32::try_from(first) {
                Ok(first) if bits == u32::BITS => Ipv4Addr::from(first).to_string(),
                _ => Ipv6Addr::from(first).to_string(),
            };
            if len < bits {
                line += &format!("/{len}");
            }
            out.write(line.as_bytes()).context(CANNOT_WRITE)
        })?;
    }
    out.finish().context(CANNOT_WRITE)?;
    Ok(Outcome::found_if(printed > 0))
}

/// Calls `each` with the networks of a range of numbers of some bits: first addresses and lengths.
fn split(
    bits: u32,
    mut first: u128,
    last: u128,
    mut each: impl FnMut(u128, u32) -> Result<()>,
) -> Result<()> {
    loop {
        // The largest that begins here and does not reach too far.
        let left = (last - first).checked_add(1).map_or(u128::BITS, u128::ilog2);
        let host = first.trailing_zeros().min(left).min(bits);
        each(first, bits - host)?;
        let size = u128::MAX.checked_shr(u128::BITS - host).unwrap_or(0);
        match (first + size).checked_add(1) {
            Some(next) if next <= last => first = next,
            _ => return Ok(()),
        }
    }
}
