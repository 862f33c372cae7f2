//! Where the cache is: the flag, the variable, or the user's cache folder.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::OsStringValueParser;

use super::args::usage;

#[derive(Debug, Args)]
pub struct CacheFolder {
    /// Folder of the cache [default: onepull below the user's cache folder]
    ///
    /// The user's cache folder is $XDG_CACHE_HOME, or else ~/.cache.
    #[arg(
        long,
        help_heading = "Cache",
        value_name = "DIR",
        env = "ONEPULL_CACHE",
        value_parser = OsStringValueParser::new()
    )]
    cache: Option<OsString>,
}

impl CacheFolder {
    /// The folder; a usage error of `command` where the environment names none either.
    pub fn resolve(&self, command: &str) -> Result<PathBuf, clap::Error> {
        // A variable that is set to nothing counts as not set.
        match self.cache.as_ref().filter(|folder| !folder.is_empty()) {
            Some(folder) => Ok(folder.into()),
            None => {
                user_cache(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")).ok_or_else(|| {
                    usage(command, "no cache folder: give --cache DIR, or set ONEPULL_CACHE or HOME")
                })
            }
        }
    }
}

/// A relative `XDG_CACHE_HOME` is to be ignored, says the XDG base directory specification.
fn user_cache(xdg_cache_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let xdg = xdg_cache_home.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = home.map(PathBuf::from).filter(|home| home.is_absolute()).map(|home| home.join(".cache"));
    Some(xdg.or(home)?.join("onepull"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_below_the_users_cache_folder() {
        let at =
            |xdg: Option<&str>, home: Option<&str>| user_cache(xdg.map(Into::into), home.map(Into::into));
        assert_eq!(at(Some("/x"), Some("/h")), Some("/x/onepull".into()));
        assert_eq!(at(None, Some("/h")), Some("/h/.cache/onepull".into()));
        assert_eq!(at(Some("relative"), Some("/h")), Some("/h/.cache/onepull".into()));
        assert_eq!(at(Some(""), Some("")), None);
    }
}
