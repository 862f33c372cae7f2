//! Walls of the code base that need no reviewer: layers, circles, purity, file length, module docs.
//!
//! Plain text search on purpose: it sees what a reader sees, and an offence is named by file.

use std::collections::{BTreeMap, BTreeSet};
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

/// The paths of `code` as lists of names: imports with their groups taken apart, and paths in place.
fn paths(code: &str) -> Vec<Vec<String>> {
    fn tree(text: &str, before: &[String], found: &mut Vec<Vec<String>>) {
        let (mut depth, mut start) = (0, 0);
        let ends = text.char_indices().chain([(text.len(), ',')]);
        for (at, c) in ends {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    let branch = text[start..at].trim();
                    start = at + 1;
                    let (names, group) = branch.split_once('{').unwrap_or((branch, ""));
                    let names = names.split("::").map(|name| name.split(" as ").next().unwrap().trim());
                    let names = names.filter(|name| !name.is_empty() && *name != "self").map(str::to_owned);
                    let path: Vec<String> = before.iter().cloned().chain(names).collect();
                    match group.rsplit_once('}') {
                        Some((group, _)) => tree(group, &path, found),
                        None => found.push(path),
                    }
                }
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        // What is re-exported is used by others, not here.
        let import = statement.rfind("\nuse ").map(|at| at + 5);
        match import.or_else(|| statement.starts_with("use ").then_some(4)) {
            Some(at) => tree(statement[at..].trim_end_matches(';'), &[], &mut found),
            None if statement.contains("\npub use ") || statement.contains("\npub(crate) use ") => {}
            None => rest.push_str(statement),
        }
    }
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for path in rest.split(|c| !word(c)).filter(|path| path.contains("::")) {
        found.push(path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect());
    }
    found
}

/// The module of a file, as a path from the root of the crate: `["fetch", "run"]`.
fn module(path: &Path) -> Vec<String> {
    let names = path.strip_prefix("src").unwrap().with_extension("");
    let names = names.iter().map(|name| name.to_str().unwrap().to_owned());
    names.filter(|name| !["mod", "lib", "main"].contains(&name.as_str())).collect()
}

/// The modules that the code of a module uses something of. What a file takes from the module that
/// declares it is no tie, as long as both are one room.
fn ties(module: &[String], code: &str, modules: &BTreeSet<Vec<String>>) -> BTreeSet<Vec<String>> {
    let longest = |path: Vec<String>| -> Option<Vec<String>> {
        (1..=path.len()).rev().map(|n| path[..n].to_vec()).find(|path| modules.contains(path))
    };
    let absolute = |path: &[String]| match path[0].as_str() {
        "crate" | "onepull" => path[1..].to_vec(),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            [&module[..module.len().saturating_sub(up)], &path[up..]].concat()
        }
        _ => [module, path].concat(),
    };
    let found = paths(code).into_iter().filter(|path| !path.is_empty());
    let found = found.filter_map(|path| longest(absolute(&path)));
    found.filter(|used| !module.starts_with(used)).collect()
}

/// Whether `module` is reached from itself.
fn is_in_circle(module: &Vec<String>, ties: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![module]);
    while let Some(module) = next.pop() {
        next.extend(ties.get(module).into_iter().flatten().filter(|used| seen.insert(*used)));
    }
    seen.contains(module)
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
fn files_use_each_other_in_one_direction() {
    let sources: Vec<Source> =
        sources(&["src"]).into_iter().filter(|source| source.part().is_some()).collect();
    let modules: BTreeSet<_> = sources.iter().map(|source| module(&source.path)).collect();
    let tie = |source: &Source| {
        let module = module(&source.path);
        let used = ties(&module, &source.code(), &modules);
        (module, used)
    };
    let ties: BTreeMap<_, _> = sources.iter().map(tie).collect();
    let circles = ties.keys().filter(|module| is_in_circle(module, &ties));
    let offence = |module: &Vec<String>| {
        let used: Vec<_> = ties[module].iter().filter(|used| is_in_circle(used, &ties)).collect();
        let used: Vec<_> = used.iter().map(|used| used.join("::")).collect();
        format!("{}: in a circle through {}", module.join("::"), used.join(", "))
    };
    assert_none(&circles.map(offence).collect::<Vec<_>>());
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

#[test]
fn circles_of_files_are_seen_by_this_test() {
    let path = |text: &str| -> Vec<String> { text.split("::").map(str::to_owned).collect() };
    let modules: BTreeSet<_> = ["a", "a::b", "a::c", "d"].map(path).into();
    let used = |module: &str, code: &str| ties(&path(module), code, &modules);
    let code = "use std::io;\nuse super::c::{self, Of};\nfn f() { crate::d::g() }\n";
    assert_eq!(used("a::b", code), ["a::c", "d"].map(path).into());
    assert_eq!(used("a", "mod b;\nmod c;\npub use b::B;\nuse c::{C, D};\n"), [path("a::c")].into());
    assert!(used("a::b", "use super::A;\nuse crate::a::E;\n").is_empty());
    let circle =
        BTreeMap::from([(path("a::b"), used("a::b", code)), (path("a::c"), used("a::c", "super::b::f()"))]);
    assert!(is_in_circle(&path("a::b"), &circle) && !is_in_circle(&path("d"), &circle));
}
