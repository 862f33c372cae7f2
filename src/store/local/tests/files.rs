//! Plain files: whole, in ranges, missing, of other kinds, outside the allowed prefixes.

use std::fs;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

#[test]
fn whole_files_and_ranges_of_them_come_back_as_they_are() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let fetched = fetch(&bytes, &[whole(), range(0, 10), range(990, 10), range(500, 0)]);
    assert_eq!(fetched.results[0].as_ref().unwrap(), &bytes);
    assert_eq!(fetched.results[1].as_ref().unwrap(), &bytes[..10]);
    assert_eq!(fetched.results[2].as_ref().unwrap(), &bytes[990..]);
    assert_eq!(fetched.results[3].as_ref().unwrap(), "");
    assert_eq!(fetched.cost, Cost { requests: 2, bytes: 2000 });
    assert_eq!(one(b"", whole()).unwrap(), "");
}

#[test]
fn ranges_past_the_end_are_short_bodies_that_name_file_range_and_length() {
    let fault = one(b"0123456789", range(5, 6)).unwrap_err();
    assert_eq!(fault.class, Class::ShortBody);
    assert!(fault.what.ends_with("source: 6 bytes at 5 are not in a file of 10 bytes"), "{fault}");
    assert_eq!(class(b"0123456789", range(u64::MAX, 2)), Class::ShortBody);
}

#[test]
fn an_empty_range_makes_no_read_but_needs_the_file() {
    assert_eq!(fetch(b"abc", &[range(7, 0)]).cost, Cost::default());
    let missing = fetch_path(&Local::new(Vec::new()).unwrap(), "/no/such/file".as_ref(), &[range(7, 0)]);
    assert_eq!(missing.results[0].as_ref().unwrap_err().class, Class::NotFound);
}

#[test]
fn ranges_that_are_near_share_a_read_and_far_ones_do_not() {
    let bytes = vec![1; 1 << 20];
    let near = fetch(&bytes, &[range(100, 10), range(0, 10), range(60_000, 10)]);
    assert_eq!(near.cost, Cost { requests: 1, bytes: 60_010 });
    let far = fetch(&bytes, &[range(0, 10), range(500_000, 10)]);
    assert_eq!(far.cost, Cost { requests: 2, bytes: 20 });
}

#[test]
fn the_same_fault_goes_to_every_target_of_a_missing_file() {
    let source = Local::new(Vec::new()).unwrap();
    let results = fetch_path(&source, "/no/such/file".as_ref(), &[whole(), range(0, 1), member("a")]).results;
    assert!(results.iter().all(|result| result.as_ref().unwrap_err().class == Class::NotFound));
}

#[test]
fn folders_pipes_and_sockets_are_refused_without_waiting() {
    let folder = TempDir::new().unwrap();
    let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    let source = Local::new(Vec::new()).unwrap();
    for path in [folder.path(), &pipe, &socket, "/dev/null".as_ref()] {
        for target in [whole(), range(0, 1), member("a")] {
            let fault = fetch_path(&source, path, &[target]).results.remove(0).unwrap_err();
            assert_eq!(fault.class, Class::Unsupported, "{fault}");
        }
    }
}

#[test]
fn a_path_outside_the_prefixes_is_not_allowed_whether_or_not_it_exists() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/a"), b"a").unwrap();
    fs::write(folder.path().join("b"), b"b").unwrap();
    let source = Local::new(vec![folder.path().join("in")]).unwrap();
    let class = |path: &str| {
        let result = fetch_path(&source, &folder.path().join(path), &[whole()]).results.remove(0);
        result.map_err(|fault| fault.class)
    };
    assert_eq!(class("in/a").unwrap(), "a");
    assert_eq!(class("in/none"), Err(Class::NotFound));
    assert_eq!(class("b"), Err(Class::NotAllowed));
    assert_eq!(class("none"), Err(Class::NotAllowed));
    assert_eq!(class("in/../b"), Err(Class::NotAllowed));
}

#[test]
fn a_file_that_shrank_after_it_was_prepared_is_a_short_body_for_what_is_gone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source");
    fs::write(&path, [7; 1000]).unwrap();
    let source = Local::new(Vec::new()).unwrap();
    let name = SourcePath::from_bytes(path.as_os_str().as_encoded_bytes());
    let prepared = source.prepare(&name, &[range(0, 100), range(400, 200), whole()]);
    fs::write(&path, [7; 500]).unwrap();
    let mut classes = vec![None; 3];
    for request in &prepared.requests {
        source.perform(request, &mut |target, result| {
            classes[target] = Some(result.map_err(|fault| fault.class))
        });
    }
    assert!(matches!(classes[0], Some(Ok(_))));
    assert_eq!(classes[1], Some(Err(Class::ShortBody)));
    assert_eq!(classes[2], Some(Err(Class::ShortBody)));
}

#[test]
fn members_of_what_is_no_archive_are_faults_that_say_so() {
    assert_eq!(class(b"\xff\xd8\xff\xe0", member("a")), Class::ArchiveCorrupt);
    assert_eq!(class(b"", member("a")), Class::ArchiveCorrupt);
    assert_eq!(class(b"PK\x03\x04....", member("a")), Class::Unsupported);
    assert_eq!(one(b"PK\x03\x04....", range(4, 4)).unwrap(), "....");
    assert_eq!(class(b"\xfd7zXZ\0....", member("a")), Class::Unsupported);
    assert_eq!(class(b"\xfd7zXZ\0....", range(6, 4)), Class::Unsupported);
}
