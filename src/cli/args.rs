//! The command line: which commands there are.
//!
//! A new command is a file beside this one and a variant of [`Command`].

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};

use super::{analyze, materialize, size};

const MORE: &str = "`onepull COMMAND --help` explains a command and shows examples.";

const EXIT_CODES: &str = "\
Exit codes:
    0  everything accounted for
    1  failed
    2  the command line is wrong
    3  finished, but with more errors than allowed, or with a manifest that could not be read
  130  interrupted; materialize goes on where it stopped when it is given again";

/// Materializes multimodal corpora: reads every distinct payload from its source exactly once.
#[derive(Debug, Parser)]
#[command(
    name = "onepull",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = MORE,
    after_long_help = format!("{MORE}\n\n{EXIT_CODES}")
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(after_long_help = format!("{}\n\n{EXIT_CODES}", materialize::EXAMPLES))]
    Materialize(materialize::Flags),
    #[command(after_long_help = format!("{}\n\n{EXIT_CODES}", analyze::EXAMPLES))]
    Analyze(analyze::Flags),
    #[command(after_long_help = format!("{}\n\n{EXIT_CODES}", size::EXAMPLES))]
    Size(size::Flags),
}

/// A complaint about the command line of `command`, as clap words its own.
pub fn usage(command: &str, message: &str) -> clap::Error {
    let mut cli = Cli::command();
    cli.build();
    let command = cli.find_subcommand_mut(command).expect("it is a variant of `Command`");
    command.error(ErrorKind::MissingRequiredArgument, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
