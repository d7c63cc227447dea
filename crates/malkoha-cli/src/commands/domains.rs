//! `malkoha domains`: lists of domains of any syntax to one list.

use std::io::{self, Write};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};

use crate::arguments::MergeArgs;
use crate::failure::{CANNOT_WRITE, Outcome, tell};
use crate::output::LineWriter;
use crate::records::domains::{BELOW, ITSELF, NOT_BELOW, NOT_ITSELF};
use crate::screen::{Domains, Names};

const AFTER_HELP: &str = "\
Reads names, URLs, hosts files, rules of ad blockers, and the configurations of
dnsmasq, SmartDNS, Unbound, BIND, RPZ, V2Ray, Clash, Surge, MikroTik and
Pi-hole, each line by its own form. Prints each name once, in the order of first
occurrence, without names whose parent is in, and without exceptions: those of
--allow, and '@@||name^' and the like in the lists. An exception is for a name
and all below it.

A name stands for itself and all below it, '*.name' for those below it alone,
and 'full:name' or 'DOMAIN,name' for itself alone. If a format cannot express an
entry or an exception below a listed name, a line on stderr tells how many.

Exit code 1 if no name is left.

Examples:
  malkoha domains hosts.txt adblock.txt > all.txt
  malkoha domains --allow mine.txt --format unbound *.txt > block.conf";

/// Merge lists of domains, in any syntax, to one
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    merge: MergeArgs,

    /// Syntax to print
    #[arg(long, value_enum, default_value = "plain")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Plain,
    Hosts,
    Adblock,
    Dnsmasq,
    Unbound,
    Rpz,
    Wildcard,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut names = Names::default();
    arguments.merge.read(|texts, allowed| names.add(texts, false, allowed))?;
    let mut out = LineWriter::stdout(b'\n', false)?;
    out.write_all(arguments.format.head()).context(CANNOT_WRITE)?;
    let (mut printed, mut left_out, mut line) = (0_u64, 0_u64, Vec::new());
    Domains::new(names)?.needed(|name, reach| {
        line.clear();
        if arguments.format.write(&mut line, &String::from_utf8_lossy(name), reach)? {
            printed += u64::from(reach & (ITSELF | BELOW) != 0);
        } else {
            left_out += 1;
        }
        out.write_all(&line).context(CANNOT_WRITE)
    })?;
    out.finish().context(CANNOT_WRITE)?;
    if left_out > 0 {
        tell(&format!(
            "malkoha: {left_out} entries or exceptions cannot be written in this format"
        ));
    }
    Ok(Outcome::found_if(printed > 0))
}

impl Format {
    /// What comes before the entries.
    fn head(self) -> &'static [u8] {
        match self {
            Self::Unbound => b"server:\n",
            Self::Rpz => {
                b"$TTL 300\n@ SOA localhost. root.localhost. 1 3600 600 86400 300\n\
                @ NS localhost.\n"
            }
            _ => b"",
        }
    }

    /// Writes the lines of an entry or exception; `false` if the format has none for it.
    fn write(self, out: &mut Vec<u8>, name: &str, reach: u8) -> io::Result<bool> {
        let is_exception = reach & (ITSELF | BELOW) == 0;
        let (is_itself, is_below) =
            (reach & (ITSELF | NOT_ITSELF) != 0, reach & (BELOW | NOT_BELOW) != 0);
        let star = if is_itself { "" } else { "*." };
        match self {
            Self::Plain | Self::Hosts | Self::Wildcard if is_exception => return Ok(false),
            Self::Plain => writeln!(out, "{star}{name}")?,
            Self::Hosts if is_itself => writeln!(out, "0.0.0.0 {name}")?,
            Self::Hosts => return Ok(false),
            Self::Wildcard | Self::Rpz => {
                let behind = match (self, is_exception) {
                    (Self::Wildcard, _) => "",
                    (_, false) => " CNAME .",
                    (_, true) => " CNAME rpz-passthru.",
                };
                for (_, star) in [(is_itself, ""), (is_below, "*.")].iter().filter(|it| it.0) {
                    writeln!(out, "{star}{name}{behind}")?;
                }
            }
            Self::Adblock => {
                let at = if is_exception { "@@" } else { "" };
                let bar = if is_below { "||" } else { "|" };
                writeln!(out, "{at}{bar}{star}{name}^")?;
            }
            Self::Dnsmasq if is_exception => writeln!(out, "server=/{star}{name}/#")?,
            Self::Dnsmasq => writeln!(out, "address=/{star}{name}/#")?,
            Self::Unbound if !is_itself => return Ok(false),
            Self::Unbound => {
                let kind = if is_exception { "always_transparent" } else { "always_null" };
                writeln!(out, "local-zone: \"{name}.\" {kind}")?;
            }
        }
        Ok(true)
    }
}
