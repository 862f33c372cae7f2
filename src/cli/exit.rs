//! How a run ended, as an exit code, and the sentence on stderr that says why.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::process::ExitCode;

use onepull::commands::Unreadable;
use onepull::commands::format::{printable, things};
use onepull::commands::materialize::MaxErrors;
use onepull::monitor::Interrupted;

/// The ways a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything is accounted for.
    Complete = 0,
    Failed = 1,
    Usage = 2,
    /// Finished, but more is missing than was allowed.
    Incomplete = 3,
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Says on stderr why a command has no report, and gives the code for it.
/// `interrupted`: what an interruption leaves behind.
pub fn explain(error: &anyhow::Error, interrupted: &str) -> Exit {
    let (exit, message) = ending(error, interrupted);
    say(&message);
    exit
}

/// The code for a command whose report has these errors by class and leaves these manifests out;
/// if it is not 0, says on stderr why.
pub fn judge(
    errors: &BTreeMap<&'static str, u64>,
    references: u64,
    unreadable: &[Unreadable],
    allowed: MaxErrors,
) -> Exit {
    let reasons = shortfalls(errors, references, unreadable, allowed);
    for reason in &reasons {
        say(&format!("incomplete: {reason}"));
    }
    if reasons.is_empty() { Exit::Complete } else { Exit::Incomplete }
}

fn ending(error: &anyhow::Error, interrupted: &str) -> (Exit, String) {
    if error.chain().any(|cause| cause.is::<Interrupted>()) {
        (Exit::Interrupted, format!("interrupted: {interrupted}"))
    } else {
        (Exit::Failed, format!("error: {error:#}"))
    }
}

fn say(message: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(message));
}

fn shortfalls(
    errors: &BTreeMap<&'static str, u64>,
    references: u64,
    unreadable: &[Unreadable],
    allowed: MaxErrors,
) -> Vec<String> {
    let errors: u64 = errors.values().sum();
    let (exceeded, limit) = match allowed {
        MaxErrors::Count(most) => (errors > most, most.to_string()),
        MaxErrors::Percent(most) => (errors as f64 * 100.0 > most * references as f64, format!("{most}%")),
    };
    let (found, of) = (things(errors, "error", "errors"), things(references, "reference", "references"));
    let unread = things(unreadable.len() as u64, "manifest", "manifests");
    let too_many = exceeded.then(|| format!("{found} over {of}, --max-errors allows {limit}"));
    let unread = (!unreadable.is_empty()).then(|| format!("{unread} could not be read"));
    too_many.into_iter().chain(unread).collect()
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, anyhow};

    use super::*;

    fn shortfalls_of(references: u64, errors: u64, allowed: MaxErrors) -> Vec<String> {
        let errors = if errors > 0 { [("not_found", errors)].into() } else { [].into() };
        shortfalls(&errors, references, &[], allowed)
    }

    #[test]
    fn a_run_without_errors_is_complete() {
        assert_eq!(shortfalls_of(10, 0, MaxErrors::Count(0)), [""; 0]);
        assert_eq!(shortfalls_of(0, 0, MaxErrors::Percent(0.0)), [""; 0]);
    }

    #[test]
    fn errors_up_to_the_limit_are_complete() {
        assert_eq!(shortfalls_of(1000, 5, MaxErrors::Count(5)), [""; 0]);
        assert_eq!(shortfalls_of(1000, 5, MaxErrors::Percent(0.5)), [""; 0]);
        assert_eq!(
            shortfalls_of(1000, 6, MaxErrors::Percent(0.5)),
            ["6 errors over 1,000 references, --max-errors allows 0.5%"]
        );
        assert_eq!(
            shortfalls_of(1000, 1, MaxErrors::Count(0)),
            ["1 error over 1,000 references, --max-errors allows 0"]
        );
    }

    #[test]
    fn bad_rows_without_any_reference_are_still_errors() {
        assert_eq!(shortfalls_of(0, 1, MaxErrors::Percent(50.0)).len(), 1);
    }

    #[test]
    fn an_unreadable_manifest_is_never_complete() {
        let unreadable = [Unreadable { path: "a.jsonl".into(), error: "gone".into() }];
        let reasons = shortfalls(&BTreeMap::new(), 7, &unreadable, MaxErrors::Percent(100.0));
        assert_eq!(reasons, ["1 manifest could not be read"]);
    }

    #[test]
    fn an_interruption_is_found_anywhere_in_the_chain() {
        let error = Err::<(), _>(Interrupted).context("fetching").context("materializing").unwrap_err();
        assert_eq!(ending(&error, "all is lost"), (Exit::Interrupted, "interrupted: all is lost".into()));
    }

    #[test]
    fn a_failure_is_printed_once_as_a_chain() {
        let error = anyhow!("disk on fire").context("writing a.tar");
        assert_eq!(ending(&error, ""), (Exit::Failed, "error: writing a.tar: disk on fire".into()));
    }
}
