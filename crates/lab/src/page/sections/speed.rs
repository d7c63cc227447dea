//! Figures 5 to 8: speeds.

use anyhow::Result;

use crate::page::Section;
use crate::page::claims::{CACHED, place};
use crate::page::data::{Data, FULL_MEGABYTES, line, names};
use crate::page::plot::{Axis, Line, Plot, among};
use crate::page::table::Table;
use crate::paper::Experiment as E;

const PRESENT: Axis =
    Axis { label: "present keys among the queries, %", from: 0.0, to: 100.0, logarithmic: false };
const OCCUPANCY: Axis = Axis { label: "occupancy, %", from: 0.0, to: 101.0, logarithmic: false };

/// From zero to a little above the highest point.
pub(super) fn speed<'a>(label: &'a str, lines: &[Line]) -> Axis<'a> {
    let highest = lines.iter().flat_map(|line| &line.1).map(|point| point.1).fold(1.0, f64::max);
    Axis { label, from: 0.0, to: highest * 1.05, logarithmic: false }
}

/// The lines of each plot: the paper's filters, then ours beside the first of them.
const PANELS: [(&str, [&str; 6]); 2] = [
    ("", ["CF", "ss-CF", "BF", "blk-BF", "QF", "dl-CBF"]),
    ("-ours", ["CF", "CBF", "gap windows", "growable", "concurrent", "shared growing"]),
];

/// The plots and tables of a figure, and those at the paper's size if there are any.
fn panel(
    data: &Data,
    experiment: E,
    (panel, file, title, label): (&str, &str, &str, &str),
    x: Axis<'_>,
) -> Result<(Vec<Plot>, Vec<Table>)> {
    let (mut plots, mut tables) = (Vec::new(), Vec::new());
    let small = (data.of(experiment), data.megabytes(), data.machine_of(experiment));
    let both =
        data.full(experiment).map(|full| [full.rows.clone(), data.only_later(experiment)].concat());
    let full = data.full(experiment).zip(both.as_deref());
    let full = full.map(|(full, both)| (both, FULL_MEGABYTES, &full.machine));
    // Every structure has one colour in all figures, those without removals too.
    let mut all = data.lines(E::Figure5, "lookups");
    for name in names(&data.only_later(E::Figure5), "lookups") {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    for (values, megabytes, machine) in [Some(small), full].into_iter().flatten() {
        let points = |name: String| {
            let points = line(values, panel, &name);
            (name, points)
        };
        let lines: Vec<Line> = all.iter().cloned().map(points).collect();
        let size = format!("{label}, {megabytes:.0} MB");
        let end = if megabytes == FULL_MEGABYTES { "-192MB" } else { "" };
        for (part, names) in PANELS {
            let file = format!("{file}{part}{end}.svg");
            let shown = among(&lines, &names);
            plots.push(Plot::new(&file, title, x, speed(&size, &lines), &shown)?);
        }
        let measured: Vec<Line> = names(values, panel).into_iter().map(points).collect();
        let caption = format!("{panel}, {megabytes:.0} MB ({})", place(machine));
        tables.push(Table::of_lines(&caption, x.label, &measured));
    }
    if let Some(later) = data.later(experiment) {
        let points = |name: String| {
            let points = line(&later.rows, panel, &name);
            (name, points)
        };
        let lines: Vec<Line> = names(&later.rows, panel).into_iter().map(points).collect();
        let caption =
            format!("{panel}, {FULL_MEGABYTES:.0} MB, another run ({})", place(&later.machine));
        tables.push(Table::of_lines(&caption, x.label, &lines));
    }
    Ok((plots, tables))
}

fn size(data: &Data) -> String {
    let size = data.megabytes();
    if size < CACHED {
        format!(
            "Tables of {size:.0} MB lie in the caches of a newer processor; those of 192 MB, as \
             the paper's, in memory."
        )
    } else {
        format!("Tables of {size:.0} MB on a newer processor; the paper's took 192 MB.")
    }
}

/// The text on a figure at the paper's size, if it was measured.
fn at_full_size(data: &Data, experiment: E, text: &str) -> String {
    let text = data.full(experiment).map_or_else(String::new, |_| format!(" At 192 MB: {text}"));
    text + &another_run(data, experiment)
}

/// What is from another run at the paper's size, and how that compares with the first.
pub(super) fn another_run(data: &Data, experiment: E) -> String {
    let mut names: Vec<String> = Vec::new();
    for value in data.only_later(experiment) {
        if !names.contains(&value.series) {
            names.push(value.series);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let machine = data.later(experiment).map(|later| place(&later.machine)).unwrap_or_default();
    let beside = data.later_over_first(experiment, "CF").map_or_else(String::new, |ratio| {
        format!(", where CF was {ratio:.2} times as fast as in the first, in the median")
    });
    format!(
        " At 192 MB the figures of {} are from another run ({machine}){beside}.",
        names.join(" and ")
    )
}

pub(super) fn figure5(data: &Data) -> Result<Section> {
    let figure = ("lookups", "figure5", "Figure 5", "million lookups a second");
    let (plots, tables) = panel(data, E::Figure5, figure, PRESENT)?;
    let mut differs = "Our CF compares both buckets without branches, so that a share of one half \
                       is nothing special to it."
        .to_owned();
    if data.megabytes() < CACHED {
        differs += " In cache a mispredicted branch costs more than a read, so the share matters \
                    less to Bloom filters than in the paper.";
    }
    differs += &at_full_size(
        data,
        E::Figure5,
        "CF, gap windows and the concurrent filter are the fastest, as they look at both places \
         at once and no branch depends on what they find, so that the processor has several \
         lookups on their way; BF loses a quarter with the share, as in the paper. One run.",
    );
    if data.machine.was_busy() {
        differs += " The machine was shared while this was measured: single points swing by a \
                    third and more, the one at one half too.";
    }
    Ok(Section {
        id: "figure5",
        title: "Figure 5: lookups by share of present keys",
        paper: "CF is equally fast for all shares, with a dip at one half; BF and blk-BF lose with \
                the share; QF is slowest.",
        differs,
        plots,
        tables,
    })
}

pub(super) fn figure6(data: &Data) -> Result<Section> {
    let panels = [
        ("absent keys", "figure6-absent", "Figure 6", "million lookups a second, absent keys"),
        ("present keys", "figure6-present", "Figure 6", "million lookups a second, present keys"),
    ];
    let mut section = Section {
        id: "figure6",
        title: "Figure 6: lookups by occupancy",
        paper: "CF and ss-CF are stable; QF falls with its load; BF and blk-BF are constant for \
                present keys and fall for absent ones.",
        differs: size(data)
            + &at_full_size(
                data,
                E::Figure6,
                "BF falls for absent keys from 18 to 10 million a second, and is constant for \
                 present ones, as in the paper; blk-BF, one line for either, does not fall. QF \
                 falls by a third for absent keys, which it need not look for in an empty table, \
                 and not for present ones. One run: single points are low where the host was busy.",
            ),
        plots: vec![],
        tables: vec![],
    };
    for figure in panels {
        let (plots, tables) = panel(data, E::Figure6, figure, OCCUPANCY)?;
        section.plots.extend(plots);
        section.tables.extend(tables);
    }
    Ok(section)
}

pub(super) fn figure7(data: &Data) -> Result<Section> {
    let figure = ("inserts", "figure7", "Figure 7", "million inserts a second");
    let (plots, tables) = panel(data, E::Figure7, figure, OCCUPANCY)?;
    Ok(Section {
        id: "figure7",
        title: "Figure 7: inserts by occupancy",
        paper: "Cuckoo filters get slower as they fill, QF too; Bloom filters and dl-CBF are \
                constant.",
        differs: "The same shapes. Our search costs more than the paper's walk in the last five \
                  percent, because it goes on where the walk gives up. The growable filter's \
                  inserts pay for the splits of its segments."
            .to_owned()
            + &at_full_size(
                data,
                E::Figure7,
                "CF and the concurrent filter insert up to twice as fast as BF, and faster \
                 until they are two thirds full. One run.",
            ),
        plots,
        tables,
    })
}

pub(super) fn figure8(data: &Data) -> Result<Section> {
    let figure = ("removals", "figure8", "Figure 8", "million removals a second");
    let (plots, tables) = panel(data, E::Figure8, figure, OCCUPANCY)?;
    Ok(Section {
        id: "figure8",
        title: "Figure 8: removals by occupancy",
        paper: "From full to empty: CF is fastest and stable, dl-CBF second; QF is slowest when \
                full and overtakes ss-CF when nearly empty.",
        differs: size(data)
            + &at_full_size(
                data,
                E::Figure8,
                "all remove 3 to 4 million a second, QF fewer when full: each removal waits for \
                 memory, as it writes what it has read. One run.",
            ),
        plots,
        tables,
    })
}
