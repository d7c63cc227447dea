//! Random files in every format, on both sides, with random options, compared with plain sets.

use std::collections::HashSet;

use crate::harness::Dir;

/// A generator of numbers; its first number is the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from((self.0 >> 33) % end as u64).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn word(&mut self, of: &[&str]) -> String {
        (0..self.below(4)).map(|_| self.one(of).to_owned()).collect()
    }
}

/// Records with what of them is compared, if they have it.
struct File {
    header: String,
    records: Vec<(String, Option<String>)>,
}

/// The formats, and the options that select what is compared, of the input and of lists.
const FORMATS: [(&str, &str, &str); 8] = [
    ("line", "", ""),
    ("tab", "-k 2", r"-K 2 --list-delimiter \t"),
    (";", "-k 1 -t ;", "-K 1 --list-delimiter ;"),
    ("blank", "-k 2 -t blank", "-K 2 --list-delimiter blank"),
    ("csv", "--csv -k 2 -t ,", "--list-csv -K 2 --list-delimiter ,"),
    ("names", "--csv -k key -t ;", "--list-csv -K key --list-delimiter ;"),
    ("json", "--json-field f", "--list-json-field f"),
    ("fastq", "--fastq", ""),
];

impl File {
    fn random(random: &mut Random, format: &str) -> Self {
        let count = random.below(14);
        let records = (0..count).map(|_| record(random, format)).collect();
        let header = if format == "names" { "id;\"key\"\n".to_owned() } else { String::new() };
        Self { header, records }
    }

    fn text(&self) -> String {
        let records = self.records.iter().map(|(record, _)| format!("{record}\n"));
        self.header.clone() + &records.collect::<String>()
    }

    /// Whether nothing in it can be compared.
    fn is_unfit(&self) -> bool {
        let mut counted = self.records.iter().filter(|(record, _)| !record.trim().is_empty());
        let is_unfit = |(_, key): &&(String, Option<String>)| key.is_none();
        counted.clone().next().is_some() && counted.all(|it| is_unfit(&it))
    }
}

fn record(random: &mut Random, format: &str) -> (String, Option<String>) {
    let letters = ["a", "B", "b", "\u{e9}", "x1"];
    let any = ["a", "b", "A", ",", ";", "\"", "\n", " ", "\u{e9}"];
    let (one, two) = (random.word(&letters), random.word(&letters));
    let quoted = |field: &str| format!("\"{}\"", field.replace('"', "\"\""));
    match format {
        "line" => (one.clone(), Some(one)),
        "tab" if random.below(4) == 0 => (one, None),
        "tab" => (format!("{one}\t{two}\tz"), Some(two)),
        ";" => (format!("{one};{two}"), Some(one)),
        "blank" if one.is_empty() || two.is_empty() => (format!("  {one}{two} "), None),
        "blank" => (format!(" {one} \t {two}"), Some(two)),
        "csv" | "names" => {
            let delimiter = if format == "csv" { "," } else { ";" };
            let (first, key) = (random.word(&any), random.word(&any));
            match random.below(5) {
                0 => (quoted(&first), None),
                1 => (format!("{one}{delimiter}{two}\r"), Some(two)),
                _ => (format!("{}{delimiter}{}", quoted(&first), quoted(&key)), Some(key)),
            }
        }
        "json" if random.below(4) == 0 => (random.one(&["{\"g\":1}", "no json"]).into(), None),
        "json" => {
            let key = random.word(&any);
            (serde_json::json!({ "f": key, "z": 1 }).to_string(), Some(key))
        }
        _ => (format!("@r{one} {two}\nAC\n+\n@I"), Some(format!("r{one}"))),
    }
}

/// Whether a record is printed, by whether it is in the other file, is the first of its key, and
/// has one.
type Wanted = Box<dyn Fn(bool, bool, bool) -> bool>;

#[test]
fn random_files_of_every_format_on_both_sides() {
    let dir = Dir::new();
    for seed in 0..400 {
        let mut random = Random(seed);
        let (format, options, _) = FORMATS[random.below(FORMATS.len())];
        let input = File::random(&mut random, format);
        dir.write("input", input.text());
        let case = if random.below(3) == 0 { "-i" } else { "" };
        let key = |key: &Option<String>| {
            let fold =
                |key: &String| if case == "-i" { key.to_ascii_lowercase() } else { key.clone() };
            key.as_ref().map(fold)
        };
        let keys_of = |file: &File| -> HashSet<String> {
            file.records.iter().filter_map(|(_, it)| key(it)).collect()
        };
        let (command, wanted): (String, Wanted) = match random.below(5) {
            0 => (format!("uniq {options}"), Box::new(|_, first, _| first)),
            1 => ("uniq --repeated ".to_owned() + options, Box::new(|_, first, _| !first)),
            2 => ("diff OTHER ".to_owned() + options, Box::new(|is_in, first, _| first && !is_in)),
            3 => (
                "intersect OTHER ".to_owned() + options,
                Box::new(|is_in, first, fits| first && is_in && fits),
            ),
            _ => ("screen -f LIST ".to_owned() + options, Box::new(|is_in, _, _| is_in)),
        };
        // Lists of another format than the input's; reads have none.
        let (list_format, _, list_options) = FORMATS[1 + random.below(FORMATS.len() - 2)];
        let is_screen = command.starts_with("screen");
        let other = File::random(&mut random, if is_screen { list_format } else { format });
        dir.write("other", other.text());
        let mut command = format!("{command} {case} --threads {}", 1 + random.below(2));
        if is_screen {
            // Where CSV is the input's format it is that of lists too.
            if format == "csv" || format == "names" {
                continue;
            }
            command = command.replace("LIST", "other") + " " + list_options + " input";
        } else if command.contains("OTHER") {
            command = command.replace(" OTHER", "") + " input other";
        } else {
            command += " input";
        }
        let run = dir.run(&command);
        if command.contains("other") && other.is_unfit() {
            assert_eq!((run.code, run.stdout.len()), (Some(2), 0), "{seed}: {command}: {run:?}");
            continue;
        }
        let (others, mut seen) = (keys_of(&other), HashSet::new());
        let mut expected = String::new();
        for (record, it) in &input.records {
            let key = key(it);
            let (is_in, first) = match &key {
                Some(key) => (others.contains(key), seen.insert(key.clone())),
                None => (false, true),
            };
            if wanted(is_in, first, key.is_some()) {
                expected += &format!("{record}\n");
            }
        }
        let code = i32::from(expected.is_empty());
        let expected = input.header + &expected;
        let text = String::from_utf8(run.stdout).unwrap();
        assert_eq!((text, run.code), (expected, Some(code)), "{seed}: {command}: {}", run.stderr);
        // Whatever cannot be compared is reported.
        let hints = ["list '", "nothing is equal"];
        let is_told = run.stderr.lines().any(|line| !hints.iter().any(|hint| line.contains(hint)));
        let unfit =
            input.records.iter().any(|(record, it)| it.is_none() && !record.trim().is_empty());
        assert_eq!(is_told, unfit, "{seed}: {command}: {}", run.stderr);
    }
}
