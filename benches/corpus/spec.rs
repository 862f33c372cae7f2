//! What a corpus is made of, and how that is said in the environment.

use std::fmt;
use std::str::FromStr;

use crate::setup::setting;

/// A corpus, before it is made.
#[derive(Clone, Debug)]
pub struct Spec {
    pub objects: u32,
    pub references: u32,
    pub sizes: Sizes,
    pub manifests: u32,
    pub payloads: Payloads,
}

impl Spec {
    /// `ONEPULL_BENCH_OBJECTS`, `_REFERENCES`, `_BYTES`, `_MANIFESTS`, `_PAYLOADS`.
    pub fn from_env(default: Spec) -> anyhow::Result<Spec> {
        Ok(Spec {
            objects: setting("OBJECTS", default.objects)?,
            references: setting("REFERENCES", default.references)?,
            sizes: setting("BYTES", default.sizes)?,
            manifests: setting("MANIFESTS", default.manifests)?,
            payloads: setting("PAYLOADS", default.payloads)?,
        })
    }

    /// The settings that [`Spec::from_env`] reads as this very spec.
    pub fn settings(&self) -> [(&'static str, String); 5] {
        [
            ("OBJECTS", self.objects.to_string()),
            ("REFERENCES", self.references.to_string()),
            ("BYTES", self.sizes.to_string()),
            ("MANIFESTS", self.manifests.to_string()),
            ("PAYLOADS", self.payloads.to_string()),
        ]
    }
}

/// What is said above a table of measurements.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Spec { objects, references, manifests, .. } = self;
        let size = match self.sizes {
            Sizes::Fixed(bytes) => format!("{bytes} bytes each"),
            Sizes::Law => "144 kB on average".to_owned(),
        };
        write!(f, "{objects} objects of {size}, {references} references in {manifests} manifests")
    }
}

/// How large the objects are: a number of bytes, or `law`.
#[derive(Clone, Copy, Debug)]
pub enum Sizes {
    /// All of this many bytes.
    Fixed(u32),
    /// Drawn from the law that multiplicities follow, 144 kB on average.
    Law,
}

impl FromStr for Sizes {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Sizes> {
        match text {
            "law" => Ok(Sizes::Law),
            bytes => Ok(Sizes::Fixed(bytes.parse()?)),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Sizes::Fixed(bytes) => bytes.fmt(f),
            Sizes::Law => f.write_str("law"),
        }
    }
}

/// Whether there are archives: `written` or `absent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payloads {
    Written,
    /// Only manifests are written: a corpus to plan with or to analyze, of any size.
    Absent,
}

impl FromStr for Payloads {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Payloads> {
        match text {
            "written" => Ok(Payloads::Written),
            "absent" => Ok(Payloads::Absent),
            _ => anyhow::bail!("written or absent"),
        }
    }
}

impl fmt::Display for Payloads {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Payloads::Written => "written",
            Payloads::Absent => "absent",
        })
    }
}
