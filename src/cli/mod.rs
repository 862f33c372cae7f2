//! The binary's side: flags become options, a command runs, its report is printed, and an exit
//! code says how it ended.
//!
//! Each command has one file here that holds its flags and what they mean, and one in [`render`]
//! that holds its report as text. Nothing below the library's `commands` sees a flag, and nothing
//! but this folder writes to the terminal.

mod analyze;
mod args;
mod console;
mod exit;
mod materialize;
mod objective;
mod output;
mod progress;
mod quantity;
mod render;
mod screen;
mod size;
mod system;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use onepull::catch_panic::panic_is_caught;

use args::Usage;
use exit::Exit;

const MORE: &str = "`onepull COMMAND --help` explains a command and shows examples.";

const EXIT_CODES: &str = "\
Exit codes:
    0  everything is accounted for
    1  failed
    2  the command line is wrong
    3  finished, but with more errors than --max-errors allows, or without a
       manifest that could not be read
  130  interrupted";

const HIDDEN: &str = "\
For your shell and your packager:
  onepull completions SHELL   prints completions for bash, elvish, fish,
                              powershell or zsh
  onepull man [COMMAND]       prints the man page of onepull, or of a command";

/// Fill in the images of multimodal corpora, reading each image once
///
/// A corpus of interleaved text and images often names its images by locator, and many rows name
/// the same image. onepull counts the references first and fetches afterwards, so that it reads
/// each distinct image from its source exactly once.
#[derive(Debug, Parser)]
#[command(
    name = "onepull",
    version,
    max_term_width = 80,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = MORE,
    after_long_help = format!("{MORE}\n\n{HIDDEN}\n\n{EXIT_CODES}")
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(after_long_help = format!("{EXIT_CODES}\n\n{}", materialize::EXAMPLES))]
    Materialize(materialize::MaterializeFlags),
    #[command(after_long_help = format!("{EXIT_CODES}\n\n{}", analyze::EXAMPLES))]
    Analyze(analyze::AnalyzeFlags),
    #[command(after_long_help = format!("{EXIT_CODES}\n\n{}", size::EXAMPLES))]
    Size(size::SizeFlags),
    /// Print completions for a shell
    #[command(hide = true)]
    Completions { shell: Shell },
    /// Print the man page of onepull, or of a command
    #[command(hide = true)]
    Man { command: Option<String> },
}

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let print_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic_is_caught() {
            print_panic(panic);
        }
    }));
    let (name, result, interrupted) = match Cli::parse().command {
        Command::Materialize(flags) => ("materialize", materialize::run(&flags), materialize::INTERRUPTED),
        Command::Analyze(flags) => ("analyze", analyze::run(&flags), analyze::INTERRUPTED),
        Command::Size(flags) => ("size", size::run(&flags), size::INTERRUPTED),
        Command::Completions { shell } => ("completions", completions(shell), ""),
        Command::Man { command } => ("man", man(command.as_deref()), ""),
    };
    let exit = result.unwrap_or_else(|error| match error.downcast_ref::<Usage>() {
        Some(Usage(message)) => refuse(name, message),
        None => exit::explain(&error, interrupted),
    });
    exit.into()
}

/// Complains about the command line of `command` as clap does.
fn refuse(command: &str, message: &str) -> Exit {
    let mut cli = Cli::command();
    cli.build();
    let command = cli.find_subcommand_mut(command).expect("it is a variant of `Command`");
    // Nothing to do about a stderr that is gone.
    let _ = command.error(ErrorKind::MissingRequiredArgument, message).print();
    Exit::Usage
}

fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "onepull", &mut text);
    output::print(&text)?;
    Ok(Exit::Complete)
}

fn man(command: Option<&str>) -> anyhow::Result<Exit> {
    let mut cli = Cli::command();
    cli.build();
    let page = match command {
        None => cli,
        Some(name) => {
            let found =
                cli.find_subcommand(name).ok_or_else(|| Usage(format!("there is no command {name}")))?;
            found.clone()
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).source(concat!("onepull ", env!("CARGO_PKG_VERSION"))).render(&mut text)?;
    output::print(&text)?;
    Ok(Exit::Complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
