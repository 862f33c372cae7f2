//! What every store promises, checked against the local one and those around it.

use std::fs;
use std::ops::Range;
use std::path::Path;

use onepull::fault::{Fault, FaultClass};
use onepull::locator::Location;
use onepull::store::{Local, Opened, Stat, Store};
use pollster::block_on;
use tempfile::TempDir;

use crate::support::stores::{Recording, Slow};

const FILES: [&str; 4] = ["a", "b/c", "b/d/e", "f"];

#[test]
fn every_store_keeps_its_promises() {
    let stores: [&dyn Store; 3] = [&Local, &Recording::default(), &Slow];
    for store in stores {
        let folder = TempDir::new().unwrap();
        for name in FILES {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content()).unwrap();
        }
        it_lists_files_in_order(store, folder.path());
        it_tells_and_reads_what_is_there(store, &folder.path().join("a"));
        it_refuses_what_is_no_file(store, folder.path());
        it_notices_a_file_that_changed(store, &folder.path().join("a"));
    }
}

/// More than is read at once.
fn content() -> Vec<u8> {
    (0..20_000_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn location(path: &Path) -> Location {
    Location::File(path.to_owned())
}

fn stat(store: &dyn Store, path: &Path) -> Result<Stat, Fault> {
    block_on(store.stat(&location(path)))
}

fn opened(store: &dyn Store, path: &Path) -> Opened {
    Opened::new(location(path), stat(store, path).unwrap())
}

fn read(store: &dyn Store, file: &Opened, range: Range<u64>) -> Result<Vec<u8>, Fault> {
    block_on(async {
        let mut body = store.read(file, range).await?;
        let mut bytes = Vec::new();
        while body.chunk(&mut bytes).await? > 0 {}
        Ok(bytes)
    })
}

fn it_lists_files_in_order(store: &dyn Store, folder: &Path) {
    let listed = block_on(store.list(&location(folder))).unwrap();
    assert_eq!(listed, FILES.map(|name| location(&folder.join(name))));
    let none = block_on(store.list(&location(&folder.join("none")))).unwrap_err();
    assert_eq!(none.class, FaultClass::NotFound);
}

fn it_tells_and_reads_what_is_there(store: &dyn Store, path: &Path) {
    let content = content();
    let seen = stat(store, path).unwrap();
    assert_eq!(seen.length, content.len() as u64);
    assert_eq!(seen, stat(store, path).unwrap());
    let file = opened(store, path);
    for range in [0..0, 0..1, 7..7, 0..seen.length, 100..18_000_000, seen.length - 1..seen.length] {
        let bytes = read(store, &file, range.clone()).unwrap();
        assert!(bytes == content[range.start as usize..range.end as usize], "{range:?}");
    }
}

fn it_refuses_what_is_no_file(store: &dyn Store, folder: &Path) {
    assert_eq!(stat(store, &folder.join("none")).unwrap_err().class, FaultClass::NotFound);
    assert_eq!(stat(store, &folder.join("a/below")).unwrap_err().class, FaultClass::NotFound);
    assert_eq!(stat(store, folder).unwrap_err().class, FaultClass::Unsupported);
    let fault = block_on(store.stat(&Location::Url("s3://bucket/key".into()))).unwrap_err();
    assert_eq!(fault.class, FaultClass::Unsupported);
}

fn it_notices_a_file_that_changed(store: &dyn Store, path: &Path) {
    let seen = opened(store, path);
    let reading = opened(store, path);
    read(store, &reading, 0..10).unwrap();
    fs::write(path, "shorter").unwrap();
    for file in [seen, reading] {
        assert_eq!(read(store, &file, 0..10).unwrap_err().class, FaultClass::Changed);
    }
    let after = opened(store, path);
    assert_ne!(after.stat.validator, opened(store, &path.with_file_name("f")).stat.validator);
    assert_eq!(read(store, &after, 0..7).unwrap(), b"shorter");
    fs::remove_file(path).unwrap();
    assert_eq!(read(store, &opened_at(path, &after.stat), 0..7).unwrap_err().class, FaultClass::NotFound);
}

fn opened_at(path: &Path, stat: &Stat) -> Opened {
    Opened::new(location(path), stat.clone())
}
