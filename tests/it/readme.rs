//! The console blocks of README.md and docs/*.md are true: each is run, its output compared.
//!
//! In a fenced block marked `console`, a line starting with `$ ` is a shell command, and a line
//! ending in `\` goes on in the next. What follows is what it prints, stdout and stderr together.
//! `[..]` stands for any text within a line, a line of `...` for any number of lines. The commands
//! of one document run one after the other in a scratch folder that holds a copy of `fixtures`, with
//! the built binary on the PATH. A command must succeed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::files;

#[test]
fn the_readme_and_the_docs_are_true() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents = vec![repository.join("README.md")];
    for entry in fs::read_dir(repository.join("docs")).unwrap() {
        documents.push(entry.unwrap().path());
    }
    documents.sort();
    let mut false_blocks = Vec::new();
    for document in documents.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        let steps = steps(&fs::read_to_string(document).unwrap());
        let is_readme = document.ends_with("README.md");
        assert!(!steps.is_empty() || !is_readme, "README.md shows no command");
        false_blocks.extend(first_false(document.strip_prefix(repository).unwrap(), steps));
    }
    assert!(false_blocks.is_empty(), "{}", false_blocks.join("\n\n"));
}

/// The first of the steps that fails or prints something else, and what it prints. The steps after
/// it build on it, so they are not run.
fn first_false(document: &Path, steps: Vec<Step>) -> Option<String> {
    let scratch = tempfile::tempdir().unwrap();
    files::copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures"), &scratch.path().join("fixtures"));
    steps.into_iter().find_map(|step| {
        let (printed, succeeded) = run(&step.command, scratch.path());
        let is_true = succeeded && matches(&lines(&step.expected), &lines(&printed));
        (!is_true).then(|| {
            format!(
                "{}, line {}: $ {}\n--- it says\n{}\n--- it is\n{printed}",
                document.display(),
                step.line,
                step.command,
                step.expected,
            )
        })
    })
}

#[derive(Debug, PartialEq)]
struct Step {
    /// Where the command stands, from 1.
    line: usize,
    command: String,
    expected: String,
}

fn steps(markdown: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut in_block, mut in_command) = (false, false);
    for (number, line) in (1..).zip(markdown.lines()) {
        if line.starts_with("```") {
            in_block = line == "```console" && !in_block;
        } else if in_block && let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { line: number, command: command.into(), expected: String::new() });
            in_command = command.ends_with('\\');
        } else if in_block {
            let step = steps.last_mut().expect("a console block starts with a command");
            let text = if in_command { &mut step.command } else { &mut step.expected };
            let separated = !text.is_empty();
            *text += if separated { "\n" } else { "" };
            *text += line;
            in_command &= line.ends_with('\\');
        }
    }
    steps
}

/// What the command printed, and whether it succeeded.
fn run(command: &str, folder: &Path) -> (String, bool) {
    let binary = assert_cmd::cargo::cargo_bin!("onepull").parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1\n{command}"))
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", binary.display()))
        .env("HOME", folder.join("home"))
        .env_remove("XDG_CACHE_HOME")
        .env_remove("ONEPULL_CACHE")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().collect()
}

fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match (expected, printed) {
        ([], printed) => printed.is_empty(),
        (["...", rest @ ..], printed) => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        ([first, rest @ ..], [line, more @ ..]) => line_matches(first, line) && matches(rest, more),
        (_, []) => false,
    }
}

fn line_matches(expected: &str, line: &str) -> bool {
    match expected.split_once("[..]") {
        None => expected.trim_end() == line.trim_end(),
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

#[test]
fn commands_and_their_output_are_found_in_console_blocks_only() {
    let markdown = "\
text
```sh
$ not this
```
```console
$ one \\
    --flag
first

second
$ two
```
$ nor this
";
    let step = |line, command: &str, expected: &str| Step {
        line,
        command: command.into(),
        expected: expected.into(),
    };
    assert_eq!(steps(markdown), [step(6, "one \\\n    --flag", "first\n\nsecond"), step(11, "two", "")]);
}

#[test]
fn wildcards_match_within_a_line_and_over_lines() {
    assert!(line_matches("time [..] s, [..] rows", "time 0.12 s, 3 rows"));
    assert!(line_matches("a[..]", "a"));
    assert!(!line_matches("a[..]c", "abd"));
    assert!(matches(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "..."], &["a"]));
    assert!(!matches(&["a"], &["a", "b"]));
    assert!(!matches(&["...", "d", "e"], &["d", "x"]));
}
