//! Walls of the code base that need no reviewer: layers, purity, file length, module docs.
//!
//! Plain text search on purpose: it sees what a reader sees, and an offence is named by file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// Lines a file may have.
const LONGEST: usize = 400;

/// Files that may be longer, with their own limit: flat lists of equal items.
const LONGER: &[(&str, usize)] = &[];

/// What each part of `src` may use of the others. `cli` is the binary and sees the library from
/// outside.
const LAYERS: &[(&str, &[&str])] = &[
    ("analysis", &[]),
    ("catch_panic", &[]),
    ("fault", &[]),
    ("memory", &[]),
    ("monitor", &[]),
    ("publish", &[]),
    ("scratch", &["publish"]),
    ("threads", &[]),
    ("locator", &["fault"]),
    ("object", &["fault", "locator"]),
    ("steps", &["fault"]),
    ("manifest", &["archive", "catch_panic", "fault", "locator"]),
    ("shard", &["locator", "manifest", "threads"]),
    ("counting", &["memory", "object", "threads"]),
    ("plan", &["locator", "object"]),
    ("archive", &["fault", "locator"]),
    ("store", &["fault", "locator"]),
    ("cache", &["object", "scratch"]),
    ("fetch", &["archive", "fault", "locator", "object", "plan", "store"]),
    (
        "payloads",
        &[
            "cache", "counting", "fault", "fetch", "locator", "memory", "monitor", "object", "plan", "steps",
            "store",
        ],
    ),
    (
        "commands",
        &[
            "analysis",
            "cache",
            "catch_panic",
            "counting",
            "fault",
            "fetch",
            "locator",
            "manifest",
            "memory",
            "monitor",
            "object",
            "payloads",
            "plan",
            "publish",
            "scratch",
            "shard",
            "steps",
            "store",
            "threads",
        ],
    ),
    ("cli", &["analysis", "commands", "locator", "catch_panic", "monitor", "publish"]),
];

/// Parts that compute and do nothing else.
const PURE: &[&str] = &["analysis", "plan"];

/// What a pure part does not touch.
const IMPURE: &[&str] =
    &["std::fs", "std::io", "std::net", "std::env", "std::process", "std::thread", "std::time", "rayon"];

struct Source {
    /// Relative to the repository.
    path: PathBuf,
    text: String,
}

impl Source {
    /// `plan` for `src/plan/coalesce.rs` and for `src/plan.rs`.
    fn part(&self) -> Option<String> {
        let below = self.path.strip_prefix("src").ok()?;
        let first = Path::new(below.iter().next()?).file_stem()?.to_str()?;
        (first != "lib" && first != "main").then(|| first.to_owned())
    }

    /// What is compiled into the product: no comments, no unit tests.
    fn code(&self) -> String {
        let in_tests = self.path.iter().any(|folder| folder == "tests");
        if in_tests || self.path.ends_with("tests.rs") || self.path.ends_with("samples.rs") {
            return String::new();
        }
        let product = self.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let lines = product.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folders: &[&str]) -> Vec<Source> {
    let walk = |folder: &&str| WalkDir::new(repository().join(folder)).sort_by_file_name();
    folders
        .iter()
        .filter(|folder| repository().join(folder).exists())
        .flat_map(walk)
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| Source {
            text: fs::read_to_string(&path).unwrap(),
            path: path.strip_prefix(repository()).unwrap().to_owned(),
        })
        .collect()
}

/// The parts named by `crate::part` and `crate::{part, part::...}`, also through `onepull::`.
fn parts_used(code: &str, root: &str) -> BTreeSet<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut used = BTreeSet::new();
    for (at, found) in code.match_indices(root) {
        let rest = &code[at + found.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            used.insert(name(rest));
            continue;
        };
        let (mut depth, mut start) = (1, 0);
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && c == ',') {
                used.insert(name(&group[start..i]));
                start = i + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    used.remove("");
    used
}

fn assert_none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}", offences.join("\n"));
}

#[test]
fn parts_use_only_what_their_layer_allows() {
    let mut offences = Vec::new();
    for source in sources(&["src"]) {
        let Some(part) = source.part() else { continue };
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == part) else {
            offences.push(format!("{}: `{part}` has no line in LAYERS", source.path.display()));
            continue;
        };
        let root = if part == "cli" { "onepull::" } else { "crate::" };
        for used in parts_used(&source.code(), root) {
            if used != part && !allowed.contains(&used.as_str()) {
                offences.push(format!("{}: `{part}` must not use `{used}`", source.path.display()));
            }
        }
    }
    assert_none(&offences);
}

#[test]
fn pure_parts_do_no_io_and_read_no_clock() {
    let mut offences = Vec::new();
    for source in sources(&["src"]) {
        if source.part().is_some_and(|part| PURE.contains(&part.as_str())) {
            let code = source.code();
            let found = IMPURE.iter().filter(|name| code.contains(**name));
            offences.extend(found.map(|name| format!("{}: uses {name}", source.path.display())));
        }
    }
    assert_none(&offences);
}

#[test]
fn only_the_console_prints_and_only_publish_renames() {
    let mut offences = Vec::new();
    for source in sources(&["src"]) {
        let (part, code) = (source.part().unwrap_or_default(), source.code());
        for word in ["println!", "print!", "eprint", "dbg!", "io::stdout", "io::stderr"] {
            if part != "cli" && code.contains(word) {
                offences.push(format!("{}: {word} belongs into src/cli", source.path.display()));
            }
        }
        for word in ["fs::rename", ".persist("] {
            if part != "publish" && code.contains(word) {
                offences.push(format!("{}: {word} belongs into src/publish.rs", source.path.display()));
            }
        }
    }
    assert_none(&offences);
}

#[test]
fn nothing_unwraps_outside_tests() {
    let files = sources(&["src"]).into_iter().filter(|source| source.code().contains(".unwrap()"));
    assert_none(&files.map(|source| format!("{}: .unwrap()", source.path.display())).collect::<Vec<_>>());
}

#[test]
fn files_are_short() {
    let mut offences = Vec::new();
    for source in sources(&["src", "tests", "benches"]) {
        let (lines, longer) = (source.text.lines().count(), LONGER.iter());
        let limit = longer.clone().find(|(path, _)| Path::new(path) == source.path);
        let limit = limit.map_or(LONGEST, |(_, limit)| *limit);
        if lines > limit {
            offences.push(format!("{}: {lines} lines, at most {limit}", source.path.display()));
        }
    }
    assert_none(&offences);
}

#[test]
fn every_file_starts_with_its_doc() {
    let files = sources(&["src", "tests", "benches"]).into_iter();
    let bare = files.filter(|source| !source.text.starts_with("//! "));
    assert_none(&bare.map(|source| format!("{}: no module doc", source.path.display())).collect::<Vec<_>>());
}

#[test]
fn grouped_imports_are_seen_by_this_test() {
    let code = "use crate::{\n    object::{Key, Locator},\n    fault::Fault,\n};\nuse crate::plan::Span;\n";
    let used: Vec<_> = parts_used(code, "crate::").into_iter().collect();
    assert_eq!(used, ["fault", "object", "plan"]);
}
