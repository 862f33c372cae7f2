//! What this machine offers a process: cores, memory, open files.
//!
//! Wrong guesses here cost speed, never correctness, so whatever cannot be read is left out.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Assumed when the machine does not say how much memory it has.
const UNKNOWN_MEMORY: u64 = 2_000_000_000;

/// Descriptors a process holds apart from its jobs: standard streams, manifests, lock files.
const RESERVED_FILES: u64 = 24;

/// Descriptors a job may hold at once: source, cache entry, its temporary file, shard.
const FILES_PER_JOB: u64 = 4;

/// Cores this process may use, at least 1.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Half of the memory that is free, or of what the control group allows if that is less.
pub fn default_memory() -> u64 {
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_available(&text));
    let limit = control_group_limit();
    free.into_iter().chain(limit).min().map_or(UNKNOWN_MEMORY, |bytes| bytes / 2)
}

/// Raises the limit of open files as far as this process may, and returns it.
pub fn raise_open_files() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    let limit = if setrlimit(Resource::Nofile, raised).is_ok() { maximum } else { current };
    limit.unwrap_or(u64::MAX)
}

/// More threads than this only get into each other's way.
const MOST_JOBS: usize = 256;

/// The most jobs that `open_files` descriptors leave room for, at least 1.
pub fn jobs_for(open_files: u64) -> usize {
    let jobs = open_files.saturating_sub(RESERVED_FILES) / FILES_PER_JOB;
    usize::try_from(jobs).unwrap_or(usize::MAX).clamp(1, MOST_JOBS)
}

/// `MemAvailable` of /proc/meminfo, in bytes.
fn memory_available(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1024)
}

/// The tightest memory limit of this process's control groups (version 2), in bytes.
fn control_group_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    root.join(group)
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .filter_map(|folder| fs::read_to_string(folder.join("memory.max")).ok()?.trim().parse().ok())
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_kib() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   12000000 kB\nBuffers: 1 kB\n";
        assert_eq!(memory_available(text), Some(12_288_000_000));
        assert_eq!(memory_available("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn a_tight_limit_of_open_files_leaves_one_job() {
        assert_eq!(jobs_for(0), 1);
        assert_eq!(jobs_for(24), 1);
        assert_eq!(jobs_for(64), 10);
        assert_eq!(jobs_for(1024), 250);
    }
}
