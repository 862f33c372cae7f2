//! Runs a child process and says what it took.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// What one run took.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub wall: Duration,
    /// Of the largest process: the child, or one that it started and waited for.
    pub peak_rss_bytes: u64,
}

/// Runs `command` to its end. An exit code other than 0 is an error that quotes stderr.
pub fn run(command: &mut Command) -> anyhow::Result<Usage> {
    // A file and not a pipe: nobody has to read while the child runs.
    let mut stderr = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr.try_clone()?);
    let start = Instant::now();
    let child = command.spawn().with_context(|| format!("starting {command:?}"))?;
    let (status, peak_rss_bytes) = wait(child.id())?;
    let wall = start.elapsed();
    if !status.success() {
        bail!("{command:?} ended with {status}:\n{}", read_all(&mut stderr)?);
    }
    Ok(Usage { wall, peak_rss_bytes })
}

/// Waits for the child with this id and returns its exit status and peak resident set, bytes.
///
/// The kernel counts the peak of the parent at the moment of the spawn, too: whoever measures
/// has to be small.
fn wait(id: u32) -> io::Result<(ExitStatus, u64)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for writes, and the id is that of a child of ours that
        // nobody else waits for. The standard library's `wait` does not tell the usage.
        let waited = unsafe { libc::wait4(id as libc::pid_t, &mut status, 0, usage.as_mut_ptr()) };
        if waited != -1 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: all bits zero are a valid `rusage`, and the call has filled it in.
    let usage = unsafe { usage.assume_init() };
    // Linux counts in KiB.
    Ok((ExitStatus::from_raw(status), usage.ru_maxrss as u64 * 1024))
}

fn read_all(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
