//! Ways to break a file.

use crate::support::random::Random;

/// Breaks `bytes`, which are not empty, and says how.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    let at = random.below(bytes.len());
    match random.below(8) {
        0 | 1 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        2 => {
            let end = (at + 1 + random.below(64)).min(bytes.len());
            bytes[at..end].fill(0);
            format!("zeros in {at}..{end}")
        }
        3 => {
            let end = (at + 1 + random.below(16)).min(bytes.len());
            bytes.drain(at..end);
            format!("{at}..{end} taken out")
        }
        4 => {
            let count = 2 + random.below(6);
            (0..count).for_each(|_| flip(bytes, random));
            format!("{count} bits flipped")
        }
        _ => {
            flip(bytes, random);
            "a bit flipped".into()
        }
    }
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    bytes[at] ^= 1 << random.below(8);
}
