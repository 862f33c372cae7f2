//! Colours and letters of plots, and the style sheet that turns the colours for a dark theme.

use plotters::prelude::*;

/// Units of drawing per CSS pixel.
pub const SCALE: u32 = 4;

pub const BACKGROUND: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
pub const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);
/// Labels of axes.
pub const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6A);
/// Lines of the grid.
pub const FAINT: RGBColor = RGBColor(0xD8, 0xDE, 0xE4);
pub const FIRST: RGBColor = RGBColor(0x09, 0x69, 0xDA);
pub const SECOND: RGBColor = RGBColor(0xBC, 0x4C, 0x00);
pub const THIRD: RGBColor = RGBColor(0x1A, 0x7F, 0x37);
pub const FOURTH: RGBColor = RGBColor(0x82, 0x50, 0xDF);

/// What each colour is on a dark background.
const DARK: [(RGBColor, RGBColor); 8] = [
    (BACKGROUND, RGBColor(0x0D, 0x11, 0x17)),
    (INK, RGBColor(0xE6, 0xED, 0xF3)),
    (MUTED, RGBColor(0x9D, 0xA7, 0xB3)),
    (FAINT, RGBColor(0x30, 0x36, 0x3D)),
    (FIRST, RGBColor(0x53, 0x9B, 0xF5)),
    (SECOND, RGBColor(0xE0, 0x82, 0x3D)),
    (THIRD, RGBColor(0x3F, 0xB9, 0x50)),
    (FOURTH, RGBColor(0xA3, 0x71, 0xF7)),
];

/// Letters of `pixels` CSS pixels. The backend divides sizes by 1.24.
pub fn font<'a>(pixels: u32, colour: &'a RGBColor) -> TextStyle<'a> {
    ("sans-serif", f64::from(pixels * SCALE) * 1.24).into_font().color(colour)
}

/// A line `pixels` CSS pixels wide.
pub fn line(colour: &RGBColor, pixels: u32) -> ShapeStyle {
    colour.stroke_width(pixels * SCALE)
}

/// The viewer's theme overrules the attributes of the drawing; a viewer that knows no style
/// sheets shows the light colours.
pub fn style() -> String {
    let hex = |RGBColor(r, g, b): RGBColor| format!("#{r:02X}{g:02X}{b:02X}");
    let rule = |(light, dark): &(RGBColor, RGBColor)| {
        let (light, dark) = (hex(*light), hex(*dark));
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}\n")
    };
    let rules: String = DARK.iter().map(rule).collect();
    format!("@media (prefers-color-scheme:dark){{\n{rules}}}\n")
}
