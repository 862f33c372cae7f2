//! What one cache entry costs: put against a plain file write, hit against a plain file read.
//!
//! Through the library, on one thread. The plain files lie in one flat folder, are written
//! without a temporary name and read without a check: the floor of what a file can cost.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use onepull::cache::Cache;
use onepull::object::Key;

use crate::contest::pairs::Spread;
use crate::corpus::payload;

/// Payload bytes, and how many entries make one measurement.
const SIZES: [(usize, u32); 3] = [(1_000, 4000), (100_000, 1000), (5_000_000, 40)];

/// Measures in `folder`, which must not exist, and prints a table.
pub fn run(folder: &Path, rounds: usize) -> anyhow::Result<()> {
    println!(
        "{:<12} {:>12} {:>12} {:>8} {:>12} {:>12} {:>8}",
        "entry", "put", "write", "ratio", "hit", "read", "ratio"
    );
    for (size, count) in SIZES {
        let mut times = Times::default();
        // The first round warms up.
        for round in 0..=rounds {
            // Nothing is removed before the end: a file system may look past what was deleted.
            let folder = folder.join(format!("{size}-{round}"));
            fs::create_dir_all(&folder)?;
            rustix::fs::sync();
            let measured = measure(&folder, size, count)?;
            if round > 0 {
                times.push(measured, count);
            }
        }
        times.print(size);
    }
    fs::remove_dir_all(folder)?;
    Ok(())
}

/// Put, write, hit, read.
type Measured = [Duration; 4];

fn measure(folder: &Path, size: usize, count: u32) -> anyhow::Result<Measured> {
    let cache = Cache::open(&folder.join("cache"))?;
    let plain = folder.join("plain");
    fs::create_dir(&plain)?;
    let keys: Vec<Key> =
        (0..count).map(|entry| Key(*blake3::hash(&entry.to_le_bytes()).as_bytes())).collect();
    let paths: Vec<_> = (0..count).map(|entry| plain.join(format!("{entry:06}"))).collect();
    let mut content = vec![0; size];
    payload::fill(0, &mut content);

    let put = timed(|| keys.iter().try_for_each(|key| Ok(cache.put(key, &content)?)))?;
    let write = timed(|| paths.iter().try_for_each(|path| Ok(fs::write(path, &content)?)))?;
    rustix::fs::sync();
    let hit = timed(|| {
        keys.iter().try_for_each(|key| {
            let found = cache.get(key).context("an entry that was just put is missing")?;
            ensure!(black_box(found).len() == size, "an entry has another size");
            Ok(())
        })
    })?;
    let read = timed(|| {
        paths.iter().try_for_each(|path| {
            ensure!(black_box(fs::read(path)?).len() == size, "a file has another size");
            Ok(())
        })
    })?;
    Ok([put, write, hit, read])
}

fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// Microseconds an entry, round by round.
#[derive(Default)]
struct Times([Vec<f64>; 4]);

impl Times {
    fn push(&mut self, measured: Measured, count: u32) {
        for (times, wall) in self.0.iter_mut().zip(measured) {
            times.push(wall.as_secs_f64() * 1e6 / f64::from(count));
        }
    }

    fn print(&self, size: usize) {
        let [put, write, hit, read] = self.0.each_ref().map(|times| Spread::of(times.clone()).median);
        let micros = |value: f64| format!("{value:.1} µs");
        println!(
            "{:<12} {:>12} {:>12} {:>8.2} {:>12} {:>12} {:>8.2}",
            format!("{} kB", size / 1000),
            micros(put),
            micros(write),
            put / write,
            micros(hit),
            micros(read),
            hit / read,
        );
    }
}
