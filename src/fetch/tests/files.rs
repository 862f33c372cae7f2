//! Plain files: whole, in ranges, missing, of other kinds, outside the allowed prefixes.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;
use crate::archive::samples::{Tar, gzip};
use crate::store::{Answer, Body, Opened, Stat};

#[test]
fn whole_files_and_ranges_of_them_come_back_as_they_are() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let fetched = fetch(&bytes, &[whole(), range(0, 10), range(990, 10), range(500, 0)]);
    assert_eq!(fetched.results[0].as_ref().unwrap(), &bytes);
    assert_eq!(fetched.results[1].as_ref().unwrap(), &bytes[..10]);
    assert_eq!(fetched.results[2].as_ref().unwrap(), &bytes[990..]);
    assert_eq!(fetched.results[3].as_ref().unwrap(), "");
    assert_eq!(fetched.cost(), (2, 2000));
    assert_eq!(one(b"", whole()).unwrap(), "");
}

#[test]
fn ranges_past_the_end_are_short_bodies_that_name_file_range_and_length() {
    let fault = one(b"0123456789", range(5, 6)).unwrap_err();
    assert_eq!(fault.class, FaultClass::ShortBody);
    assert!(fault.to_string().ends_with("source: 6 bytes at 5 are not in a file of 10 bytes"), "{fault}");
    assert_eq!(class(b"0123456789", range(u64::MAX, 2)), FaultClass::ShortBody);
}

#[test]
fn an_empty_range_makes_no_read_but_needs_the_file() {
    assert_eq!(fetch(b"abc", &[range(7, 0)]).cost(), (0, 0));
    let missing = fetch_path("/no/such/file".as_ref(), &[range(7, 0)]);
    assert_eq!(missing.results[0].as_ref().unwrap_err().class, FaultClass::NotFound);
}

#[test]
fn ranges_that_are_near_share_a_read_and_far_ones_do_not() {
    let bytes = vec![1; 1 << 20];
    let near = fetch(&bytes, &[range(100, 10), range(0, 10), range(60_000, 10)]);
    assert_eq!(near.cost(), (1, 60_010));
    let far = fetch(&bytes, &[range(0, 10), range(500_000, 10)]);
    assert_eq!(far.cost(), (2, 20));
}

#[test]
fn the_same_fault_goes_to_every_target_of_a_missing_file() {
    let results = fetch_path("/no/such/file".as_ref(), &[whole(), range(0, 1), member("a")]).results;
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().class == FaultClass::NotFound));
}

#[test]
fn folders_pipes_and_sockets_are_refused_without_waiting() {
    let folder = TempDir::new().unwrap();
    let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    for path in [folder.path(), &pipe, &socket, "/dev/null".as_ref()] {
        for target in [whole(), range(0, 1), member("a")] {
            let fault = fetch_path(path, &[target]).results.remove(0).unwrap_err();
            assert_eq!(fault.class, FaultClass::Unsupported, "{fault}");
        }
    }
}

#[test]
fn a_path_outside_the_prefixes_is_not_allowed_whether_or_not_it_exists() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/a"), b"a").unwrap();
    fs::write(folder.path().join("b"), b"b").unwrap();
    let allow = Allow::new(vec![folder.path().join("in")]).unwrap();
    let class = |path: &str| {
        let result = obtain_from(&Local, &allow, &folder.path().join(path), &[whole()]).results.remove(0);
        result.map_err(|fault| fault.class)
    };
    assert_eq!(class("in/a").unwrap(), "a");
    assert_eq!(class("in/none"), Err(FaultClass::NotFound));
    assert_eq!(class("b"), Err(FaultClass::NotAllowed));
    assert_eq!(class("none"), Err(FaultClass::NotAllowed));
    assert_eq!(class("in/../b"), Err(FaultClass::NotAllowed));
}

/// Local files; one grows when the `nth` read of it begins.
struct Growing {
    path: PathBuf,
    nth: AtomicU64,
}

impl Store for Growing {
    fn stat<'a>(&'a self, location: &'a Location) -> Answer<'a, Stat> {
        Local.stat(location)
    }

    fn list<'a>(&'a self, prefix: &'a Location) -> Answer<'a, Vec<Location>> {
        Local.list(prefix)
    }

    fn read<'a>(&'a self, file: &'a Opened, range: Range<u64>) -> Answer<'a, Box<dyn Body + 'a>> {
        let body = Local.read(file, range);
        if self.nth.fetch_sub(1, Ordering::Relaxed) == 1 {
            fs::File::options().append(true).open(&self.path).unwrap().write_all(b"more").unwrap();
        }
        body
    }
}

#[test]
fn a_file_that_changes_after_it_was_looked_at_gives_no_bytes_of_two_states() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source");
    let everything = Allow::new(Vec::new()).unwrap();
    let tar = Tar::new().file("a", "one").file("b", [7; 100_000]).file("c", "two").end();
    for (bytes, targets) in [
        (vec![7; 500_000], [whole(), range(0, 100), range(400_000, 200)]),
        (tar.clone(), [member("a"), member("c"), range(1536, 100_000)]),
        (gzip(&tar), [member("a"), member("c"), range(1536, 100_000)]),
    ] {
        for nth in 1..4 {
            fs::write(&path, &bytes).unwrap();
            let store = Growing { path: path.clone(), nth: AtomicU64::new(nth) };
            let results = obtain_from(&store, &everything, &path, &targets).results;
            let fault = results.iter().find_map(|result| result.as_ref().err()).unwrap();
            assert_eq!(fault.class, FaultClass::Changed, "{fault}");
            assert!(fault.what.contains("it changed from"), "{fault}");
            for (result, target) in results.iter().zip(&targets) {
                assert!(result.is_err() || *result == one(&bytes, target.clone()));
            }
        }
    }
}

#[test]
fn files_of_the_kernel_are_refused_where_they_hold_more_than_they_say() {
    let fault = fetch_path("/proc/version".as_ref(), &[whole()]).results.remove(0).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "io: /proc/version: it holds more than the 0 bytes that it is said to have"
    );
}

#[test]
fn members_of_what_is_no_archive_are_faults_that_say_so() {
    assert_eq!(class(b"\xff\xd8\xff\xe0", member("a")), FaultClass::ArchiveCorrupt);
    assert_eq!(class(b"", member("a")), FaultClass::ArchiveCorrupt);
    assert_eq!(class(b"PK\x03\x04....", member("a")), FaultClass::Unsupported);
    assert_eq!(one(b"PK\x03\x04....", range(4, 4)).unwrap(), "....");
    assert_eq!(class(b"\xfd7zXZ\0....", member("a")), FaultClass::Unsupported);
    assert_eq!(class(b"\xfd7zXZ\0....", range(6, 4)), FaultClass::Unsupported);
}
