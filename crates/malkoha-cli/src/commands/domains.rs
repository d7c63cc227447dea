//! `malkoha domains`: lists of domains of any syntax to one list.

use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::arguments::MergeArgs;
use crate::failure::{Outcome, tell};
use crate::output::LineWriter;
use crate::records::domains::{IMPORTANT, Reach, is_listed};
use crate::screen::{Domains, Names};

/// Merge lists of domains, in any syntax, to one
#[derive(Args, Debug)]
#[command(after_help = include_str!("domains.txt"))]
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
    out.write_all(arguments.format.head())?;
    let (mut printed, mut left_out, mut line) = (0_u64, 0_u64, Vec::new());
    Domains::new(names)?.needed(|name, reach| {
        line.clear();
        if arguments.format.write(&mut line, &String::from_utf8_lossy(name), reach)? {
            printed += u64::from(is_listed(reach.itself.max(reach.below)));
        } else {
            left_out += 1;
        }
        out.write_all(&line)
    })?;
    out.finish()?;
    if left_out > 0 {
        tell(&format!(
            "malkoha: {left_out} entries or exceptions cannot be written in this format"
        ));
    }
    if printed == 0 {
        tell("malkoha: no domain is left");
    }
    Ok(Outcome::found_if(printed > 0))
}

impl Format {
    /// The text before the entries.
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
    fn write(self, out: &mut Vec<u8>, name: &str, reach: Reach) -> io::Result<bool> {
        let (is_itself, is_below) = (reach.itself > 0, reach.below > 0);
        let level = reach.itself.max(reach.below);
        let is_exception = !is_listed(level);
        let star = if is_itself { "" } else { "*." };
        match self {
            Self::Plain | Self::Hosts | Self::Wildcard if is_exception => return Ok(false),
            // These have no form for a name without those below it.
            Self::Dnsmasq | Self::Unbound if !is_below => return Ok(false),
            Self::Hosts | Self::Unbound if !is_itself => return Ok(false),
            Self::Plain if !is_below => writeln!(out, "={name}")?,
            Self::Plain => writeln!(out, "{star}{name}")?,
            Self::Hosts => writeln!(out, "0.0.0.0 {name}")?,
            Self::Wildcard => {
                for (_, star) in [(is_itself, ""), (is_below, "*.")].iter().filter(|it| it.0) {
                    writeln!(out, "{star}{name}")?;
                }
            }
            Self::Rpz => {
                for (is_meant, star) in [(is_itself, ""), (is_below, "*.")] {
                    // A record of an exception hides the parent's from what is not excepted.
                    let action = if is_exception && is_meant { "rpz-passthru." } else { "." };
                    if is_meant || is_exception {
                        writeln!(out, "{star}{name} CNAME {action}")?;
                    }
                }
            }
            Self::Adblock => {
                let at = if is_exception { "@@" } else { "" };
                let bar = if is_below { "||" } else { "|" };
                let important = if level >= IMPORTANT { "$important" } else { "" };
                writeln!(out, "{at}{bar}{star}{name}^{important}")?;
            }
            Self::Dnsmasq if is_exception => writeln!(out, "server=/{star}{name}/#")?,
            Self::Dnsmasq => writeln!(out, "address=/{star}{name}/#")?,
            Self::Unbound => {
                let kind = if is_exception { "always_transparent" } else { "always_null" };
                writeln!(out, "local-zone: \"{name}.\" {kind}")?;
            }
        }
        Ok(true)
    }
}
