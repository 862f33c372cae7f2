//! Members of a tar: plain ustar headers without a date or an owner, so that equal content gives equal
//! bytes, and a PAX header only if the name or the size does not fit.

use std::io::{self, Write};

use tar::{Builder, Header};

const BLOCK: usize = 512;
/// The size of the name field of a ustar header. Member names have no slash, so the prefix field is
/// useless.
const NAME_BYTES: usize = 100;
/// The largest number with eleven octal digits.
const MAX_SIZE: u64 = (1 << 33) - 1;

/// Appends a member; the content is written in one piece, without a copy.
pub fn append<W: Write>(tar: &mut Builder<W>, name: &str, content: &[u8]) -> io::Result<()> {
    let (header, extensions) = headers(name, content.len() as u64)?;
    tar.append_pax_extensions(extensions.iter().map(|(key, value)| (*key, value.as_bytes())))?;
    let out = tar.get_mut();
    out.write_all(header.as_bytes())?;
    out.write_all(content)?;
    out.write_all(&[0; BLOCK][..content.len().next_multiple_of(BLOCK) - content.len()])
}

/// The header of a member, and the PAX records for what does not fit.
fn headers(name: &str, size: u64) -> io::Result<(Header, Vec<(&'static str, String)>)> {
    let mut extensions = Vec::new();
    let mut header = Header::new_ustar();
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    if name.len() > NAME_BYTES {
        extensions.push(("path", name.to_owned()));
    }
    header.set_path(&name[..name.floor_char_boundary(NAME_BYTES)])?;
    if size > MAX_SIZE {
        extensions.push(("size", size.to_string()));
    }
    header.set_size(if size > MAX_SIZE { 0 } else { size });
    header.set_cksum();
    Ok((header, extensions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_of_more_than_100_bytes_or_a_size_from_8_gib_needs_an_extension() {
        let long = "a".repeat(101);
        for (name, size, keys) in [
            (&long[..100], MAX_SIZE, vec![]),
            (&long[..], 0, vec!["path"]),
            ("a", MAX_SIZE + 1, vec!["size"]),
            (&long[..], MAX_SIZE + 1, vec!["path", "size"]),
        ] {
            let (header, extensions) = headers(name, size).unwrap();
            assert_eq!(extensions.iter().map(|(key, _)| *key).collect::<Vec<_>>(), keys);
            assert_eq!(header.path_bytes().as_ref(), &name.as_bytes()[..name.len().min(100)]);
            assert_eq!(header.entry_size().unwrap(), if size > MAX_SIZE { 0 } else { size });
        }
    }
}
