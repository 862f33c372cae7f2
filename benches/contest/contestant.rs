//! One way to do the work: a command, what it reads, what it leaves behind.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

/// A contestant, run again and again as a child process.
pub struct Contestant {
    pub name: String,
    /// Read before each run, so that it starts with a warm page cache.
    pub inputs: Vec<PathBuf>,
    /// Removed before each run and after the last.
    pub leftovers: Vec<PathBuf>,
    /// A cache that each run fills anew, and where it is moved afterwards. It is not removed
    /// between runs: ext4 looks past each recently deleted inode when it makes a file, so the next
    /// run would pay for the removal.
    pub spent: Option<(PathBuf, PathBuf)>,
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

impl Contestant {
    /// Brings everything into the state in which a run may be timed.
    pub fn prepare(&self) -> anyhow::Result<()> {
        self.clean()?;
        self.inputs.iter().try_for_each(|input| read_through(input))
    }

    /// The command that is timed.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }

    /// Removes what the last run left behind.
    pub fn clean(&self) -> anyhow::Result<()> {
        if let Some((cache, spent)) = self.spent.as_ref().filter(|(cache, _)| cache.exists()) {
            fs::create_dir_all(spent)?;
            let number = fs::read_dir(spent)?.count();
            fs::rename(cache, spent.join(number.to_string()))?;
        }
        self.leftovers.iter().try_for_each(|leftover| remove(leftover))
    }
}

fn remove(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("removing {}", path.display()))?;
    }
    Ok(())
}

/// Reads a file, or everything in a folder, and throws it away.
fn read_through(path: &Path) -> anyhow::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    for entry in walkdir::WalkDir::new(path) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let mut file = fs::File::open(entry.path())?;
            while file.read(&mut buffer)? > 0 {}
        }
    }
    Ok(())
}
