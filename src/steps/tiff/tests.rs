//! Pages of small TIFFs built by hand, read back with the `tiff` crate.

use std::io::Cursor;

use tiff::decoder::{Decoder, DecodingResult};

use super::directory::{Form, Order};
use super::*;

const FORMS: [Form; 4] = [
    Form { order: Order::Little, width: Width::Classic },
    Form { order: Order::Big, width: Width::Classic },
    Form { order: Order::Little, width: Width::Big },
    Form { order: Order::Big, width: Width::Big },
];

/// A field: tag, type, values.
type Field = (u16, u16, Vec<u64>);

/// A TIFF of 16-bit gray pages, 4 by 2, each of two strips; `more` is added to every page.
fn gray(form: Form, pages: &[[u16; 8]], more: &[Field]) -> Vec<u8> {
    let mut out = match (form.order, form.width) {
        (Order::Little, Width::Classic) => b"II*\0".to_vec(),
        (Order::Big, Width::Classic) => b"MM\0*".to_vec(),
        (Order::Little, Width::Big) => b"II+\0\x08\0\0\0".to_vec(),
        (Order::Big, Width::Big) => b"MM\0+\0\x08\0\0".to_vec(),
    };
    let word = form.word();
    let mut link = out.len();
    form.put(&mut out, 0, word);
    for pixels in pages {
        let strips = out.len() as u64;
        pixels.iter().for_each(|&pixel| form.put(&mut out, u64::from(pixel), 2));
        let mut fields: Vec<Field> = vec![
            (256, 3, vec![4]),
            (257, 3, vec![2]),
            (258, 3, vec![16]),
            (259, 3, vec![1]),
            (262, 3, vec![1]),
            (273, 4, vec![strips, strips + 8]),
            (277, 3, vec![1]),
            (278, 3, vec![1]),
            (279, 3, vec![8, 8]),
        ];
        fields.extend_from_slice(more);
        fields.sort_by_key(|field| field.0);
        fields.reverse();
        fields.dedup_by_key(|field| field.0);
        fields.reverse();
        append(form, &mut out, &mut link, &fields);
    }
    out
}

/// Appends a directory, and links it to the one before.
fn append(form: Form, out: &mut Vec<u8>, link: &mut usize, fields: &[Field]) {
    let word = form.word();
    let mut values = Vec::new();
    for (_, kind, numbers) in fields {
        let mut value = Vec::new();
        let unit = directory::unit(*kind).unwrap() as usize;
        numbers.iter().for_each(|&number| form.put(&mut value, number, unit));
        if value.len() > word {
            let at = out.len() as u64;
            out.append(&mut value);
            form.put(&mut value, at, word);
        }
        value.resize(word, 0);
        values.push(value);
    }
    let here = out.len() as u64;
    patch(form, out, *link, here);
    form.put(out, fields.len() as u64, form.counter());
    for ((tag, kind, numbers), value) in fields.iter().zip(values) {
        form.put(out, u64::from(*tag), 2);
        form.put(out, u64::from(*kind), 2);
        form.put(out, numbers.len() as u64, word);
        out.extend(value);
    }
    *link = out.len();
    form.put(out, 0, word);
}

fn patch(form: Form, out: &mut [u8], at: usize, number: u64) {
    let mut bytes = Vec::new();
    form.put(&mut bytes, number, form.word());
    out[at..at + bytes.len()].copy_from_slice(&bytes);
}

const PAGES: [[u16; 8]; 3] = [[1, 2, 3, 4, 5, 6, 7, 800], [11, 12, 13, 14, 15, 16, 17, 18], [1000; 8]];

fn decode(bytes: &[u8]) -> (Vec<u16>, bool) {
    let mut decoder = Decoder::new(Cursor::new(bytes)).unwrap();
    let DecodingResult::U16(pixels) = decoder.read_image().unwrap() else { panic!("not 16-bit") };
    (pixels, decoder.more_images())
}

fn fails(bytes: Vec<u8>, index: u32) -> Fault {
    extract(&bytes.into(), index).unwrap_err()
}

#[test]
fn each_page_becomes_a_file_of_its_own_in_either_byte_order_and_width() {
    for form in FORMS {
        let bytes = Bytes::from(gray(form, &PAGES, &[]));
        for (index, pixels) in PAGES.iter().enumerate() {
            let page = extract(&bytes, index as u32).unwrap();
            assert_eq!(page[..4], bytes[..4]);
            assert_eq!(decode(&page), (pixels.to_vec(), false), "{form:?} {index}");
            assert_eq!(extract(&page, 0).unwrap(), page);
        }
    }
}

#[test]
fn other_fields_stay_and_pointers_to_elsewhere_go() {
    for form in FORMS {
        let more = [
            (270, 2, b"twenty bytes of text".map(u64::from).to_vec()),
            (330, 4, vec![8]),
            (34665, 4, vec![8]),
        ];
        let bytes = Bytes::from(gray(form, &PAGES, &more));
        let page = extract(&bytes, 1).unwrap();
        let fields = Tiff::open(&page).unwrap().page(0).unwrap().fields;
        let tags: Vec<u16> = fields.iter().map(|field| field.tag).collect();
        assert_eq!(tags, [256, 257, 258, 259, 262, 270, 273, 277, 278, 279]);
        assert_eq!(fields[5].value, b"twenty bytes of text");
    }
}

#[test]
fn tiles_that_share_their_bytes_still_do_and_missing_ones_stay_missing() {
    let form = FORMS[0];
    let mut bytes = b"II*\0\0\0\0\0".to_vec();
    bytes.extend([7; 100]);
    let fields = vec![(324, 4, vec![8, 8, 0, 58]), (325, 4, vec![50, 50, 0, 50])];
    let mut link = 4;
    append(form, &mut bytes, &mut link, &fields);
    append(form, &mut bytes, &mut link, &fields);
    let page = extract(&bytes.into(), 1).unwrap();
    let fields = Tiff::open(&page).unwrap().page(0).unwrap().fields;
    let offsets: Vec<u64> = fields[0].value.chunks(4).map(|offset| form.number(offset)).collect();
    assert_eq!((offsets[0], offsets[2]), (offsets[1], 0));
    assert_eq!(offsets[3], offsets[0] + 50);
    assert_eq!(fields[1].count, 4);
}

#[test]
fn what_is_no_tiff_is_returned_whole() {
    for payload in [&b"\xff\xd8\xff\xe0"[..], b"", b"II", b"II*"] {
        let payload = Bytes::copy_from_slice(payload);
        assert_eq!(extract(&payload, 7).unwrap(), payload);
    }
}

#[test]
fn the_only_page_is_the_file_itself() {
    let bytes = Bytes::from(gray(FORMS[0], &PAGES[..1], &[(34665, 4, vec![8])]));
    assert_eq!(extract(&bytes, 0).unwrap(), bytes);
    let fault = extract(&bytes, 1).unwrap_err();
    assert_eq!(fault.to_string(), "frame_missing: page 1 of a TIFF: the last one is page 0");
}

#[test]
fn a_chain_that_loops_ends() {
    let mut bytes = gray(FORMS[0], &PAGES[..1], &[]);
    let (first, link) = (u64::from(u32::from_le_bytes(bytes[4..8].try_into().unwrap())), bytes.len() - 4);
    patch(FORMS[0], &mut bytes, link, first);
    let fault = fails(bytes, u32::MAX);
    assert_eq!(fault.class, FaultClass::FrameMissing);
    assert!(fault.what.contains("circular"), "{fault}");
}

#[test]
fn damaged_pages_are_faults() {
    let form = FORMS[0];
    let cases: [Field; 4] =
        [(273, 4, vec![8, 1 << 30]), (279, 4, vec![8]), (279, 2, vec![8, 8]), (270, 2, Vec::new())];
    for case in &cases[..3] {
        assert_eq!(fails(gray(form, &PAGES, std::slice::from_ref(case)), 1).class, FaultClass::FrameMissing);
    }
    assert!(extract(&gray(form, &PAGES, &cases[3..]).into(), 1).is_ok());
    assert_eq!(fails(b"II*\0\0\0\0\0".to_vec(), 0).class, FaultClass::FrameMissing);
    assert_eq!(fails(b"II*\0\xff\xff\xff\xff".to_vec(), 0).class, FaultClass::FrameMissing);
    assert_eq!(fails(gray(form, &PAGES, &[(259, 3, vec![6])]), 1).class, FaultClass::Unsupported);
}

#[test]
fn a_small_file_cannot_become_a_large_page() {
    let mut bytes = vec![0; 100_000];
    bytes[..8].copy_from_slice(b"II*\0\0\0\0\0");
    let pieces = 1000;
    let fields = vec![(273, 4, (8..8 + pieces).collect()), (279, 4, vec![90_000; pieces as usize])];
    let mut link = 4;
    append(FORMS[0], &mut bytes, &mut link, &fields);
    append(FORMS[0], &mut bytes, &mut link, &fields);
    assert!(fails(bytes, 0).what.contains("longer than its file"));
}

#[test]
fn no_damage_makes_it_panic() {
    let mut seed = 1_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for round in 0..4000 {
        let mut bytes = gray(FORMS[round % 4], &PAGES, &[(270, 2, vec![65; 20])]);
        for _ in 0..=random() % 4 {
            let at = random() as usize % bytes.len();
            bytes[at] ^= 1 << (random() % 8);
        }
        bytes.truncate(bytes.len() - (random() as usize % 3) * (random() as usize % bytes.len()) / 2);
        let length = bytes.len();
        let payload = Bytes::from(bytes);
        for index in 0..4 {
            if let Ok(page) = extract(&payload, index) {
                assert!(page.len() <= length + (80 << 10));
            }
        }
    }
}
