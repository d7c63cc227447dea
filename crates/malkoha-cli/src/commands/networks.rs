//! `malkoha networks`: lists of networks of any syntax to the smallest one.

use std::net::{Ipv4Addr, Ipv6Addr};

use anyhow::Result;
use clap::Args;

use crate::arguments::MergeArgs;
use crate::failure::Outcome;
use crate::output::LineWriter;
use crate::records::range::Range;
use crate::screen::Networks;

/// Merge lists of networks, in any syntax, to the smallest one
#[derive(Args, Debug)]
#[command(after_help = include_str!("networks.txt"))]
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
            out.write(line.as_bytes())
        })?;
    }
    out.finish()?;
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
