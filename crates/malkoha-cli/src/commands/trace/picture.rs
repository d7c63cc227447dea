//! The picture of a trace: a row for each line, a column for each bucket, arcs for those that
//! moved.

use std::fmt::Write;

use super::moves::Step;

/// Pixels of a bucket, of a row, and of the column of lines.
const COLUMN: u32 = 26;
const ROW: u32 = 22;
const NAMES: u32 = 180;
const TOP: u32 = 44;
/// Characters of a line that are shown.
const SHOWN: usize = 22;

/// An SVG file of all steps.
pub(super) fn picture(lines: &[String], steps: &[Step], bucket_size: u32) -> String {
    let buckets = steps.first().map_or(0, |step| step.fullness.len());
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let width = NAMES.saturating_add(COLUMN.saturating_mul(count(buckets))).saturating_add(12);
    let height = TOP.saturating_add(ROW.saturating_mul(count(steps.len()))).saturating_add(12);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>.bg{{fill:#fff}}text{{fill:#24292f}}.cell{{fill:#1f6fb4}}.in{{fill:none;stroke:#1a7f37;\
         stroke-width:3}}.no{{fill:#c93a2b}}path{{fill:none;stroke:#c93a2b;stroke-width:1.6}}\
         @media(prefers-color-scheme:dark){{.bg{{fill:#0d1117}}text{{fill:#e6edf3}}}}</style>\n\
         <defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" \
         markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L8 4L0 8\"/></marker></defs>\n\
         <rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>\n\
         <text x=\"8\" y=\"16\">A row is an insert, a column a bucket of {bucket_size}; the darker the \
         fuller. Green: where the line went; red: who moved on.</text>\n"
    );
    let mut put = |text: std::fmt::Arguments<'_>| {
        // Writing to a String does not fail.
        let _ = svg.write_fmt(text);
    };
    for bucket in 0..count(buckets) {
        let x = NAMES + COLUMN * bucket + COLUMN / 2;
        put(format_args!("<text x=\"{x}\" y=\"36\" text-anchor=\"middle\">{bucket}</text>\n"));
    }
    for (row, (line, step)) in (0..).zip(lines.iter().zip(steps)) {
        let top = TOP + ROW * row;
        let middle = top + ROW / 2;
        let class = if step.place.is_none() { " class=\"no\"" } else { "" };
        let name = escaped(line);
        put(format_args!("<text{class} x=\"8\" y=\"{}\">{name}</text>\n", middle + 4));
        for (bucket, &keys) in (0..).zip(&step.fullness) {
            let opacity = f64::from(keys) / f64::from(bucket_size) * 0.8 + 0.06;
            put(format_args!(
                "<rect class=\"cell\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" \
                 opacity=\"{opacity:.2}\"/>\n",
                NAMES + COLUMN * bucket + 2,
                top + 2,
                COLUMN - 4,
                ROW - 4,
            ));
        }
        if let Some(place) = step.place {
            let x = NAMES + COLUMN * place + 2;
            let (width, height) = (COLUMN - 4, ROW - 4);
            put(format_args!(
                "<rect class=\"in\" x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{height}\"/>\n",
                top + 2
            ));
        }
        for moved in &step.moves {
            let [from, to] = [moved.from, moved.to].map(|b| NAMES + COLUMN * b + COLUMN / 2);
            let name = lines.get(moved.line).map(|line| escaped(line)).unwrap_or_default();
            put(format_args!(
                "<path d=\"M{from} {middle}Q{} {} {to} {middle}\" marker-end=\"url(#to)\">\
                 <title>{name}: {} to {}</title></path>\n",
                from.midpoint(to),
                middle.saturating_sub(ROW * 3 / 4),
                moved.from,
                moved.to,
            ));
        }
    }
    svg + "</svg>\n"
}

/// A line's first characters, as text of an XML file.
fn escaped(line: &str) -> String {
    let mut text = String::new();
    for character in line.chars().take(SHOWN) {
        match character {
            '<' => text.push_str("&lt;"),
            '&' => text.push_str("&amp;"),
            // XML has no control characters, not even as references.
            control if control.is_control() || control > '\u{fffd}' => text.push('\u{fffd}'),
            other => text.push(other),
        }
    }
    if line.chars().nth(SHOWN).is_some() { text + "…" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_lines_are_text() {
        assert_eq!(escaped("a<b>&\u{1}\u{ffff}"), "a&lt;b>&amp;\u{fffd}\u{fffd}");
        assert_eq!(escaped(&"x".repeat(SHOWN + 1)), "x".repeat(SHOWN) + "…");
    }
}
