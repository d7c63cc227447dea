//! One file for each command: its arguments, its help, and what it does.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod count;
pub(crate) mod edit;
pub(crate) mod generate;
pub(crate) mod get;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod new;
pub(crate) mod plan;
#[cfg(feature = "remote")]
pub(crate) mod remote;
pub(crate) mod screen;
pub(crate) mod sets;
pub(crate) mod store;
pub(crate) mod trace;
pub(crate) mod union;
pub(crate) mod uniq;
pub(crate) mod verify;

mod items;
mod window;

use anyhow::Result;

use crate::cli::Command;
use crate::failure::Outcome;

pub(crate) fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::Screen(arguments) => screen::run(&arguments),
        Command::Index(arguments) => index::run(&arguments),
        Command::Uniq(arguments) => uniq::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Build(arguments) => build::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Count(arguments) => count::run(&arguments),
        Command::Get(arguments) => get::run(&arguments),
        Command::Add(arguments) => edit::add(&arguments),
        Command::Remove(arguments) => edit::remove(&arguments),
        Command::Union(arguments) => union::run(&arguments),
        Command::Intersect(arguments) => sets::intersect(&arguments),
        Command::Diff(arguments) => sets::diff(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Store(arguments) => store::run(&arguments),
        #[cfg(feature = "remote")]
        Command::Remote(arguments) => remote::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Completions(arguments) => generate::completions(&arguments),
        Command::Man(arguments) => generate::man(&arguments),
    }
}
