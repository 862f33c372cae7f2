//! Machines that give less than one hopes for.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use super::tar::Tar;
use super::*;
use crate::support::files;

/// A bench with many manifests that name members of many archives.
fn many(count: usize) -> Bench {
    let bench = Bench::new();
    for number in 0..count {
        let tar = Tar::default().file("a.jpg", format!("payload {number}")).file("b.jpg", [b'b'; 900]);
        bench.write(&format!("data/{number}.tar"), tar.end());
    }
    let locators = |number: usize| {
        let other = (number + 1) % count;
        [member(&format!("{number}.tar"), "a.jpg"), member(&format!("{other}.tar"), "b.jpg")]
    };
    for number in 0..count {
        let rows = locators(number).map(|locator| image("s", locator));
        bench.jsonl(&format!("in/{number:03}.jsonl"), &rows);
    }
    bench
}

/// The command line as a process of its own, for what only a process has.
fn process(bench: &Bench, flags: &[&str]) -> Process {
    let mut process = Process::new(assert_cmd::cargo::cargo_bin!("onepull"));
    process.current_dir(bench.path("")).env_remove("ONEPULL_CACHE").stdin(Stdio::null());
    process.args(["materialize", "in", "-o", "out", "--cache", "cache", "--root", "data"]).args(flags);
    process
}

#[test]
fn a_limit_of_64_open_files_lowers_the_jobs_and_fails_nothing() {
    let bench = many(100);
    let mut process = process(&bench, &["-j", "200"]);
    let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: between fork and exec only the system call is made.
    unsafe {
        process.pre_exec(move || match libc::setrlimit(libc::RLIMIT_NOFILE, &limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let output = process.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("limit of 64 open files") && stderr.contains("ulimit -n"), "{stderr}");
    assert_eq!(files::shards(&bench.path("out")).len(), 100);
}

#[test]
fn off_a_terminal_stderr_has_plain_lines_and_no_codes() {
    let bench = many(3);
    for progress in ["auto", "bar", "plain"] {
        let output = process(&bench, &["--overwrite", "--progress", progress]).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains(['\r', '\u{1b}']), "{progress}: {stderr:?}");
        let starts: Vec<_> = stderr.lines().map(|line| line.split(' ').next().unwrap()).collect();
        assert_eq!(starts, ["scan", "fetch", "write"], "{progress}");
    }
}

#[test]
fn names_with_control_characters_reach_no_terminal() {
    let bench = Bench::new();
    bench.jsonl("in/m.jsonl", &[image("s", whole("\u{1b}[31mred\r\u{7}"))]);
    for flags in [&[][..], &["-v"], &["--on-error", "fail"]] {
        let output = process(&bench, flags).output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        assert!(
            !printed.contains(&0x1b) && !printed.contains(&b'\r'),
            "{}",
            String::from_utf8_lossy(&printed)
        );
        assert!(String::from_utf8_lossy(&printed).contains("[31mred"));
    }
}

#[test]
fn a_reader_that_leaves_early_ends_the_report_quietly() {
    let bench = many(3);
    for flags in [&["--json"][..], &["-v"], &["--dry-run"]] {
        let mut child = process(&bench, flags).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(!stderr.contains("ipe") && !stderr.contains("panicked"), "{stderr}");
    }
    assert_eq!(files::shards(&bench.path("out")).len(), 3);
}

#[test]
fn a_report_that_cannot_be_printed_fails_after_the_shards_are_there() {
    let bench = many(3);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = process(&bench, &["--json"]).stdout(full).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("error: writing to stdout: "), "{stderr}");
    assert_eq!(files::shards(&bench.path("out")).len(), 3);
}

#[test]
fn a_stderr_that_cannot_be_written_stops_nothing() {
    let bench = many(3);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = process(&bench, &["-v"]).stdout(Stdio::null()).stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(files::shards(&bench.path("out")).len(), 3);
}

#[test]
fn a_cache_among_data_is_refused_before_anything_is_made() {
    let bench = many(2);
    symlink("in", bench.path("alias")).unwrap();
    for (cache, output) in [
        ("in/cache", "out"),
        ("in", "out"),
        ("alias/cache", "out"),
        ("in/x/../y", "out"),
        ("out", "out"),
        ("out/cache", "out"),
        ("cache", "cache/out"),
    ] {
        let before = files::tree(&bench.path(""));
        let mut command = run::onepull();
        command.current_dir(bench.path("")).args(["materialize", "in", "-o", output, "--cache", cache]);
        let run = Run::of(&mut command);
        assert_eq!(run.code, 1, "{cache} {output}: {}", run.stderr);
        let named = run.stderr.contains("is inside") && run.stderr.contains("choose another --");
        assert!(named, "{cache} {output}: {}", run.stderr);
        assert_eq!(files::tree(&bench.path("")), before, "{cache} {output}");
    }
}

#[test]
fn the_cache_is_never_listed() {
    let bench = many(2);
    bench.run(&[]).complete();
    let entries = files::entries(&bench.path("cache"));
    fs::create_dir_all(bench.path("cache/v1/zz/zz")).unwrap();
    let folders: Vec<_> = ["cache/v1/zz", "cache/v1/zz/zz", "cache/v1"].map(|name| bench.path(name)).into();
    let folders: Vec<_> =
        entries.iter().map(|entry| entry.parent().unwrap().to_owned()).chain(folders).collect();
    // Listing a folder moves its access time on, looking a name up in it does not.
    folders.iter().for_each(|folder| set_access_time(folder));
    let run = bench.run(&["--overwrite"]);
    assert_eq!(run.complete().count("cache.hits"), 4);
    let listed: Vec<_> = folders.iter().filter(|folder| accessed(folder) != UNIX_EPOCH).collect();
    assert!(listed.is_empty(), "{listed:?}");
}

fn set_access_time(folder: &Path) {
    let times = FileTimes::new().set_accessed(UNIX_EPOCH);
    File::open(folder).unwrap().set_times(times).unwrap();
}

fn accessed(folder: &Path) -> SystemTime {
    fs::metadata(folder).unwrap().accessed().unwrap()
}

#[test]
fn an_entry_that_is_a_pipe_blocks_nobody() {
    let bench = many(1);
    bench.run(&[]).complete();
    let right = files::shards(&bench.path("out"));
    let entry = files::entries(&bench.path("cache")).pop().unwrap();
    fs::remove_file(&entry).unwrap();
    assert!(Process::new("mkfifo").arg(&entry).status().unwrap().success());
    let run = bench.run(&["--overwrite"]);
    assert_eq!(run.complete().count("source.reads"), 1);
    assert_eq!(files::shards(&bench.path("out")), right);
}
