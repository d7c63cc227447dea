//! Plots as SVG, in colours that a style sheet replaces on dark pages.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, ensure};
use plotters::element::DynElement;
use plotters::prelude::*;

/// Width of a plot in pixels; small, so that its text stays readable on a phone.
const WIDTH: u32 = 480;
const HEIGHT: u32 = 340;
const LEGEND_ROW: u32 = 24;
const LEGEND_COLUMNS: usize = 2;

/// Light colours and the dark ones that replace them: paper, ink, grid, then lines.
const COLOURS: [(RGBColor, &str); 13] = [
    (RGBColor(0xff, 0xff, 0xff), "#0d1117"),
    (RGBColor(0x24, 0x29, 0x2f), "#e6edf3"),
    (RGBColor(0xd8, 0xde, 0xe4), "#30363d"),
    (RGBColor(0x1f, 0x6f, 0xb4), "#6cb6ff"),
    (RGBColor(0xc9, 0x3a, 0x2b), "#ff7b72"),
    (RGBColor(0x1a, 0x7f, 0x37), "#56d364"),
    (RGBColor(0x82, 0x50, 0xdf), "#d2a8ff"),
    (RGBColor(0xa8, 0x6b, 0x00), "#e3b341"),
    (RGBColor(0x0a, 0x7e, 0x83), "#39c5cf"),
    (RGBColor(0xb0, 0x35, 0x8a), "#f778ba"),
    (RGBColor(0x57, 0x60, 0x6a), "#adbac7"),
    (RGBColor(0x7a, 0x4a, 0x12), "#d9a066"),
    (RGBColor(0x4d, 0x5b, 0xc4), "#9aa7ff"),
];
const PAPER: RGBColor = COLOURS[0].0;
const INK: RGBColor = COLOURS[1].0;
const GRID: RGBColor = COLOURS[2].0;
const LINES: usize = COLOURS.len() - 3;
/// With more lines than these, a panel is unreadable.
const MOST_LINES: usize = 6;

/// A drawn plot.
#[derive(Clone)]
pub(crate) struct Plot {
    pub(crate) file: String,
    pub(crate) svg: String,
}

/// An axis; a logarithmic one is given and labelled in powers of ten.
#[derive(Clone, Copy)]
pub(crate) struct Axis<'a> {
    pub(crate) label: &'a str,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) logarithmic: bool,
}

/// A line with its name.
pub(crate) type Line = (String, Vec<(f64, f64)>);

impl Plot {
    /// Draws lines with marks. The label of `y` stands above the plot. A line without points is
    /// left out, and keeps its colour from the others.
    ///
    /// # Errors
    ///
    /// If there are more lines than a panel can show: see [`among`].
    pub(crate) fn new(
        file: &str,
        title: &str,
        x: Axis<'_>,
        y: Axis<'_>,
        lines: &[Line],
    ) -> Result<Self> {
        let count = drawn(lines).count();
        ensure!(count <= MOST_LINES, "{file} has {count} lines: make two panels of it");
        let mut svg = String::new();
        draw(&mut svg, x, y, lines).map_err(|error| anyhow!("drawing {file}: {error}"))?;
        let names: Vec<&str> = drawn(lines).map(|(_, (name, _))| name.as_str()).collect();
        let alt = format!("{title}. {} by {}: {}", y.label, x.label, names.join("; "));
        // Sized by the page, and named for those who cannot see it.
        let size = format!("width=\"{WIDTH}\" height=\"{}\" ", height(lines));
        let escaped = alt.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let label = format!("role=\"img\" aria-label=\"{escaped}\" ");
        let svg = svg.replacen(&size, &label, 1);
        let svg = svg.replacen("\">\n", &format!("\">\n<style>{}</style>\n", dark_style()), 1);
        Ok(Self { file: file.to_owned(), svg })
    }
}

/// The lines of a panel that shows some of them: the others have no points, so that each line has
/// one colour in all panels.
pub(super) fn among(lines: &[Line], names: &[&str]) -> Vec<Line> {
    let shown = |(name, points): &Line| {
        let shown = names.contains(&name.as_str());
        (name.clone(), if shown { points.clone() } else { Vec::new() })
    };
    lines.iter().map(shown).collect()
}

/// The style that replaces the colours on dark pages.
fn dark_style() -> String {
    let mut style = "@media (prefers-color-scheme: dark) {".to_owned();
    for (RGBColor(r, g, b), dark) in COLOURS {
        let light = format!("#{r:02X}{g:02X}{b:02X}");
        // Writing to a String does not fail.
        let _ = write!(style, "[fill=\"{light}\"]{{fill:{dark}}}");
        let _ = write!(style, "[stroke=\"{light}\"]{{stroke:{dark}}}");
    }
    style + "}"
}

/// Those that are drawn, with the numbers of their colours.
fn drawn(lines: &[Line]) -> impl Iterator<Item = (usize, &Line)> {
    lines.iter().enumerate().filter(|(_, (_, points))| !points.is_empty())
}

fn height(lines: &[Line]) -> u32 {
    let rows = u32::try_from(drawn(lines).count().div_ceil(LEGEND_COLUMNS)).unwrap_or(1);
    HEIGHT + rows * LEGEND_ROW + 16
}

fn draw(
    svg: &mut String,
    x: Axis<'_>,
    y: Axis<'_>,
    lines: &[Line],
) -> Result<(), Box<dyn std::error::Error>> {
    let font = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let root = SVGBackend::with_string(svg, (WIDTH, height(lines))).into_drawing_area();
    root.fill(&PAPER)?;
    let (upper, lower) = root.split_vertically(HEIGHT);
    upper.draw(&Text::new(y.label, (12, 8), font(18)))?;
    let mut chart = ChartBuilder::on(&upper)
        .margin_top(38)
        .margin_right(24)
        .margin_left(6)
        .x_label_area_size(52)
        .y_label_area_size(54)
        .build_cartesian_2d(
            scaled(x, x.from)..scaled(x, x.to),
            scaled(y, y.from)..scaled(y, y.to),
        )?;
    chart
        .configure_mesh()
        .x_desc(x.label)
        .x_labels(6)
        .y_labels(7)
        .x_label_formatter(&|place| label(x, *place))
        .y_label_formatter(&|place| label(y, *place))
        .label_style(font(17))
        .axis_desc_style(font(18))
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .draw()?;
    for (place_in_legend, (number, (name, points))) in drawn(lines).enumerate() {
        // The eleventh line begins with the second colour: the first is that of the baseline.
        let colour = COLOURS[3 + (number + number / LINES) % LINES].0;
        let inside = |&&(at, value): &&(f64, f64)| {
            (x.from..=x.to).contains(&at) && (y.from..=y.to).contains(&value)
        };
        let points: Vec<(f64, f64)> =
            points.iter().filter(inside).map(|&(at, v)| (scaled(x, at), scaled(y, v))).collect();
        chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|&at| mark(number, at, colour)))?;
        let place = |index: usize, step: usize| i32::try_from(index * step).unwrap_or(0);
        let column = usize::try_from(WIDTH).unwrap_or(0) / LEGEND_COLUMNS;
        let left = 12 + place(place_in_legend % LEGEND_COLUMNS, column);
        let top = 8 + place(place_in_legend / LEGEND_COLUMNS, 24);
        let middle = top + 10;
        let key = vec![(left, middle), (left + 22, middle)];
        lower.draw(&PathElement::new(key, colour.stroke_width(2)))?;
        lower.draw(&mark(number, (left + 11, middle), colour))?;
        lower.draw(&Text::new(name.as_str(), (left + 28, top), font(17)))?;
    }
    root.present()?;
    Ok(())
}

/// Marks tell lines apart where colours do not.
fn mark<'a, C: Clone + 'static>(
    number: usize,
    at: C,
    colour: RGBColor,
) -> DynElement<'static, SVGBackend<'a>, C> {
    match number % 3 {
        0 => Circle::new(at, 3, colour.filled()).into_dyn(),
        1 => TriangleMarker::new(at, 5, colour.filled()).into_dyn(),
        _ => Cross::new(at, 4, colour).into_dyn(),
    }
}

fn scaled(axis: Axis<'_>, value: f64) -> f64 {
    if axis.logarithmic { value.log10() } else { value }
}

fn label(axis: Axis<'_>, place: f64) -> String {
    if !axis.logarithmic {
        let text = format!("{place:.2}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    // Rates, in percent; places between the powers of ten stay without a label.
    let percent = 10f64.powf(place) * 100.0;
    if (place - place.round()).abs() > 1e-6 { String::new() } else { format!("{percent} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_a_plot_has_its_dark_one() {
        let axis = Axis { label: "x", from: 0.0, to: 10.0, logarithmic: false };
        let lines: Vec<Line> = (0..u8::try_from(LINES).unwrap())
            .map(|n| (format!("line {n}"), vec![(1.0, f64::from(n)), (2.0, 3.0)]))
            .collect();
        assert!(Plot::new("a.svg", "Title", axis, axis, &lines).is_err(), "too many lines");
        let names: Vec<&str> = lines.iter().map(|line| line.0.as_str()).collect();
        let (first, last) = names.split_at(MOST_LINES);
        let [plot, other] = [first, last]
            .map(|names| Plot::new("a.svg", "Title", axis, axis, &among(&lines, names)).unwrap());
        let odd = ("Mutex<T>".to_owned(), vec![(1.0, 1.0)]);
        let odd = Plot::new("a.svg", "Title", axis, axis, &[odd]).unwrap();
        assert!(!odd.svg.contains("<T>"), "no browser shows the file");
        let style = dark_style();
        for part in plot.svg.split("=\"#").chain(other.svg.split("=\"#")) {
            let colour = part.get(..6).filter(|part| part.bytes().all(|b| b.is_ascii_hexdigit()));
            assert!(colour.is_none_or(|colour| style.contains(colour)), "{colour:?}");
        }
        assert!(plot.svg.contains("role=\"img\" aria-label=\"Title. x by x: line 0; "));
        assert!(plot.svg.contains("viewBox") && !plot.svg.contains("<svg width"));
        let colour = "#C93A2B";
        let of_second = |first: &str| {
            let empty = (first.to_owned(), vec![]);
            Plot::new("a.svg", "Title", axis, axis, &[empty, lines[1].clone()]).unwrap()
        };
        let plot_of_second = of_second("not measured");
        assert!(plot_of_second.svg.contains(colour), "the second line keeps its colour");
        assert!(!plot_of_second.svg.contains("not measured"));
        assert_eq!(plot.svg.matches("<style>").count(), 1);
    }
}
