//! Steps between fetch and write: payload in, payload out.

pub mod tiff;
