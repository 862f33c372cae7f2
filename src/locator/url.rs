//! The canonical form of URLs.
//!
//! Two URLs may have one canonical form only if every client takes them for one address: a missed
//! match costs a read, a wrong match gives wrong bytes.
//!
//! | part | canonical |
//! |---|---|
//! | scheme | lower case |
//! | host, http(s) | ASCII lower case; port without leading zeros, omitted if it is the default |
//! | path, http(s) | `/` if it is empty |
//! | fragment, http(s) | dropped, since it is never sent |
//! | everything else | as written |
//!
//! "Everything else" includes the query, `%20` and the case of escapes, `+`, `//`, `..`, and with other
//! schemes all text after the scheme: keys of object stores may contain `#` and `?`, and names of old
//! buckets may differ only by case. Nothing is decoded or encoded; the client does that once.

use std::fmt;

use crate::fault::{Fault, FaultClass};

/// Schemes whose URLs name a bucket, account or kind first.
const BUCKETS: [&[u8]; 4] = [b"s3://", b"gs://", b"az://", b"hf://"];

/// Splits `scheme://rest`; `None` if the text has no scheme and is a path.
pub fn split(text: &str) -> Option<(&str, &str)> {
    let in_scheme = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
    let end = text.bytes().position(|b| !in_scheme(&b))?;
    let rest = text[end..].strip_prefix("://")?;
    text.starts_with(|c: char| c.is_ascii_alphabetic()).then_some((&text[..end], rest))
}

/// Appends the canonical form of the URL `scheme://rest` to `out`, which is empty.
///
/// Fails with [`FaultClass::BadLocator`] if it has no host, no bucket or no valid port.
pub fn canonical((scheme, rest): (&str, &str), out: &mut Vec<u8>) -> Result<(), Fault> {
    let bad = |what: &str| Fault::new(FaultClass::BadLocator, format!("{scheme}://{rest}: {what}"));
    out.extend_from_slice(scheme.as_bytes());
    out.make_ascii_lowercase();
    out.extend_from_slice(b"://");
    match out.as_slice() {
        b"http://" => web(rest, 80, out).map_err(bad),
        b"https://" => web(rest, 443, out).map_err(bad),
        _ if rest.is_empty() => Err(bad("nothing follows the scheme")),
        scheme if rest.starts_with('/') && BUCKETS.contains(&scheme) => Err(bad("the URL names no bucket")),
        _ => {
            out.extend_from_slice(rest.as_bytes());
            Ok(())
        }
    }
}

/// The fault of a remote object: only local files can be read.
pub fn refusal(locator: impl fmt::Display) -> Fault {
    Fault::new(FaultClass::Unsupported, format!("{locator}: remote sources are not supported yet"))
}

/// Appends the part after `http://` or `https://`.
fn web(rest: &str, default_port: u16, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let sent = rest.split_once('#').map_or(rest, |(sent, _)| sent);
    let authority_end = sent.bytes().position(|b| matches!(b, b'/' | b'?')).unwrap_or(sent.len());
    let (authority, tail) = sent.split_at(authority_end);
    let host_start = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, host_and_port) = authority.split_at(host_start);
    let (host, port) = split_port(host_and_port).ok_or("the URL has no valid host")?;
    out.extend_from_slice(user.as_bytes());
    let start = out.len();
    out.extend_from_slice(host.as_bytes());
    out[start..].make_ascii_lowercase();
    if !port.is_empty() {
        let number = Some(port).filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
        let number: u16 = number.and_then(|port| port.parse().ok()).ok_or("the URL has no valid port")?;
        if number != default_port {
            let digits = port.trim_start_matches('0');
            out.push(b':');
            out.extend_from_slice(if digits.is_empty() { b"0" } else { digits.as_bytes() });
        }
    }
    if !tail.starts_with('/') {
        out.push(b'/');
    }
    out.extend_from_slice(tail.as_bytes());
    Ok(())
}

/// The host and the port, which is empty if absent; `None` if the host is invalid.
fn split_port(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('[') {
        let (address, after) = inner.split_once(']')?;
        let valid =
            !address.is_empty() && address.bytes().all(|b| b.is_ascii_hexdigit() || b":.".contains(&b));
        let port = if after.is_empty() { after } else { after.strip_prefix(':')? };
        return valid.then_some((&text[..address.len() + 2], port));
    }
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    let forbidden = |b: u8| b <= b' ' || b == 0x7f || b"<>[\\]^|".contains(&b);
    (!host.is_empty() && !host.bytes().any(forbidden)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(url: &str) -> String {
        let mut out = Vec::new();
        canonical(split(url).expect(url), &mut out).expect(url);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn spellings_of_one_address_are_one_form() {
        for url in [
            "http://example.org/",
            "HTTP://Example.ORG",
            "http://example.org:80",
            "http://example.org:/#top",
            "http://example.org:0080/#/?x",
        ] {
            assert_eq!(form(url), "http://example.org/", "{url}");
        }
        assert_eq!(form("https://h:443?q"), "https://h/?q");
        assert_eq!(form("https://h#a?q"), "https://h/");
        assert_eq!(form("https://h:08443/x"), "https://h:8443/x");
        assert_eq!(form("http://Me:Pw@[2001:DB8::1]:443/X"), "http://Me:Pw@[2001:db8::1]:443/X");
    }

    #[test]
    fn what_may_be_another_payload_is_another_form() {
        let different = [
            "http://h/a b.jpg",
            "http://h/a%20b.jpg",
            "http://h/a+b.jpg",
            "http://h/A%20b.jpg",
            "http://h/a%2fb.jpg",
            "http://h/a%2Fb.jpg",
            "http://h/a/b.jpg",
            "http://h//a/b.jpg",
            "http://h/a/../b.jpg",
            "http://h/é:.jpg",
            "http://h/a",
            "http://h/a/",
            "http://h/a?",
            "http://h/a?w=1",
            "http://h/a?w=2",
            "http://h/a?W=1&u=http://h:80/",
            "https://h/a",
            "http://h:8080/a",
            "http://u@h/a",
            "s3://b/a",
            "s3://B/a",
            "s3://b//a",
            "s3://b/a#1",
            "s3://b/a?1",
            "gs://b/a",
            "hdfs:///a",
            "foo://bar",
            "foo://Bar",
            "foo://bar:80",
        ];
        for url in different {
            assert_eq!(form(url), url);
        }
    }

    #[test]
    fn only_a_text_that_starts_with_a_scheme_has_one() {
        assert_eq!(split("git+ssh-2.0://x"), Some(("git+ssh-2.0", "x")));
        for path in ["", "a", "a:b", "a:/b", "2a://b", "/a://b", "x/y://b", "é://b", "://b", "a b://c"] {
            assert_eq!(split(path), None, "{path}");
        }
    }

    #[test]
    fn urls_that_name_nothing_are_bad_locators() {
        for url in [
            "http://",
            "HTTPS:///a",
            "http://?q",
            "http://#f",
            "http://:80/",
            "http://u@/a",
            "http://a b/c",
            "http://a\\b/c",
            "http://h:port/",
            "http://h:+80/",
            "http://h:65536/",
            "http://a:1:2/",
            "http://[::1/",
            "http://[]/",
            "http://[::1]x/",
            "s3://",
            "S3:///key",
            "foo://",
        ] {
            let fault = canonical(split(url).expect(url), &mut Vec::new()).expect_err(url);
            assert_eq!(fault.class, FaultClass::BadLocator, "{url}");
            assert!(fault.what.starts_with(url), "{fault}");
        }
    }
}
