//! Decompression frame by frame, with the position up to which checksums have verified the result.
//!
//! A flipped bit in a compressed stream may decode to wrong bytes long before the decoder
//! notices. What lies before the end of the last complete frame (zstd) or member (gzip) has been
//! checked; what comes after it has not.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

use super::forward::{FileCursor, Skip};

/// Compressed bytes per read.
const CHUNK: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    Gzip,
    Zstd,
}

impl Codec {
    /// The codec of a compressed stream that starts with `head`.
    pub fn detect(head: &[u8]) -> Option<Codec> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Codec::Gzip),
            // A frame, or one of the sixteen kinds of skippable frame that may come first.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Codec::Zstd),
            _ => None,
        }
    }
}

/// The uncompressed content of a file, read forward.
pub struct Unpacked<'a> {
    codec: Codec,
    frame: Option<Frame<'a>>,
    position: u64,
    verified: u64,
}

enum Frame<'a> {
    Gzip(Box<GzDecoder<BufReader<FileCursor<'a>>>>),
    Zstd(ZstdDecoder<'static, BufReader<FileCursor<'a>>>),
}

impl<'a> Unpacked<'a> {
    pub fn open(codec: Codec, file: FileCursor<'a>) -> io::Result<Unpacked<'a>> {
        let frame = Frame::open(codec, BufReader::with_capacity(CHUNK, file))?;
        Ok(Unpacked { codec, frame: Some(frame), position: 0, verified: 0 })
    }

    /// Uncompressed bytes of frames that were read to their end without an error.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// Moves to the frame after the one that just ended, if there is one.
    fn advance(&mut self) -> io::Result<()> {
        self.verified = self.position;
        let Some(frame) = self.frame.take() else { return Ok(()) };
        let mut rest = frame.into_inner()?;
        if !rest.fill_buf()?.is_empty() {
            self.frame = Some(Frame::open(self.codec, rest)?);
        }
        Ok(())
    }
}

impl<'a> Frame<'a> {
    fn open(codec: Codec, input: BufReader<FileCursor<'a>>) -> io::Result<Frame<'a>> {
        Ok(match codec {
            Codec::Gzip => Frame::Gzip(Box::new(GzDecoder::new(input))),
            Codec::Zstd => {
                let mut decoder = ZstdDecoder::with_buffer(input)?.single_frame();
                // Archives made with `zstd --long` need more than the default window.
                decoder.window_log_max(31)?;
                Frame::Zstd(decoder)
            }
        })
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Frame::Gzip(decoder) => decoder.read(into),
            Frame::Zstd(decoder) => decoder.read(into),
        }
    }

    /// The input behind the frame.
    fn into_inner(self) -> io::Result<BufReader<FileCursor<'a>>> {
        match self {
            Frame::Gzip(decoder) => Ok(decoder.into_inner()),
            Frame::Zstd(mut decoder) => {
                decoder.finish_frame()?;
                Ok(decoder.into_inner())
            }
        }
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        while let Some(frame) = &mut self.frame {
            match frame.read(into) {
                Ok(0) => self.advance()?,
                Ok(read) => {
                    self.position += read as u64;
                    return Ok(read);
                }
                Err(error) => {
                    // The output of a decoder after an error is meaningless.
                    if error.kind() != io::ErrorKind::Interrupted {
                        self.frame = None;
                    }
                    return Err(error);
                }
            }
        }
        Ok(0)
    }
}

impl Skip for Unpacked<'_> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.by_ref().take(bytes), &mut io::sink())?;
        if skipped < bytes {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the content ends inside a member"));
        }
        Ok(())
    }
}
