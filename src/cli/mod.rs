//! The binary's side: flags become options, a command runs, its report is printed, an exit code
//! says how it ended.
//!
//! A command has one file here, named as the command, that holds its flags and their conversion;
//! [`args`] lists the commands, [`shared`] has the flags that they share. Nothing below the library's
//! `commands` sees a flag, and nothing but this folder writes to the terminal.

mod analyze;
mod args;
mod bytes;
mod cache_folder;
mod choices;
mod console;
mod exit;
mod human;
mod machine;
mod materialize;
mod objective;
mod output;
mod progress;
mod quantity;
mod render;
mod screen;
mod shared;
mod size;

use std::process::ExitCode;

use clap::Parser as _;
use onepull::manifest::panic_is_caught;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    let print_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic_is_caught() {
            print_panic(panic);
        }
    }));
    let (result, interrupted) = match args::Cli::parse().command {
        args::Command::Materialize(flags) => (materialize::run(&flags), materialize::INTERRUPTED),
        args::Command::Analyze(flags) => (analyze::run(&flags), analyze::INTERRUPTED),
        args::Command::Size(flags) => (size::run(&flags), size::INTERRUPTED),
    };
    result.unwrap_or_else(|error| exit::explain(&error, interrupted)).into()
}
