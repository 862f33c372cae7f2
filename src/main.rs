//! The `onepull` command: everything a terminal sees is in [`cli`], everything else in the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
