//! Cuckoo hashing step by step, on the example of an article (cnblogs.com/chuxiuhong/p/8215719.html).

/// What of the example is the article's. It gives most places in pictures.
pub(super) const ORIGIN: &str = "The keys and steps are those of an article \
    (cnblogs.com/chuxiuhong/p/8215719.html). Its text gives the places of A, who kicks whom, and \
    that G, with places 1 and 2, finds none; the other places are reconstructed so that they lead \
    to these steps.";

/// Positions in each of the two tables.
const SIZE: usize = 5;
/// Kicks after which an insert gives up. There are ten positions.
const MAX_KICKS: usize = 20;
/// Each key with its place in the first and in the second table.
const KEYS: [(char, [usize; 2]); 7] = [
    ('A', [0, 2]),
    ('B', [0, 0]),
    ('C', [1, 4]),
    ('D', [1, 0]),
    ('E', [3, 2]),
    ('F', [3, 4]),
    ('G', [1, 2]),
];

/// The tables after an insert.
pub(super) struct Step {
    pub(super) key: char,
    pub(super) places: [usize; 2],
    /// What happened, in words.
    pub(super) story: String,
    /// The two tables, position by position.
    pub(super) tables: [Vec<Option<char>>; 2],
}

/// One step a key. In this example newcomers always go to the first table.
pub(super) fn steps() -> Vec<Step> {
    let mut tables = [vec![None; SIZE], vec![None; SIZE]];
    KEYS.iter()
        .map(|&(key, places)| {
            let before = tables.clone();
            let kicked = insert(&mut tables, key);
            let story = match &kicked {
                None => {
                    tables = before;
                    format!(
                        "{key} kicks, and those kicked go on kicking without end: seven keys have \
                         only six positions between them. The table is full for {key}; all moves \
                         are undone, and the insert is refused."
                    )
                }
                Some(kicked) if kicked.is_empty() => {
                    format!("Position {} of the first table is free: {key} lies there.", places[0])
                }
                Some(kicked) => {
                    let chain: Vec<String> = std::iter::once(&key)
                        .chain(kicked)
                        .zip(kicked)
                        .map(|(by, who)| format!("{by} kicks {who} out"))
                        .collect();
                    let last = kicked.last().unwrap_or(&key);
                    format!("{}; {last} finds its other position free.", chain.join(", "))
                }
            };
            Step { key, places, story, tables: tables.clone() }
        })
        .collect()
}

fn places(key: char) -> [usize; 2] {
    KEYS.iter().find(|known| known.0 == key).map_or([0, 0], |known| known.1)
}

/// Who was kicked out, in order; `None` if there was no end to it.
fn insert(tables: &mut [Vec<Option<char>>; 2], key: char) -> Option<Vec<char>> {
    let (mut kicked, mut homeless, mut table) = (Vec::new(), key, 0);
    for _ in 0..MAX_KICKS {
        match tables[table][places(homeless)[table]].replace(homeless) {
            None => return Some(kicked),
            Some(other) => {
                kicked.push(other);
                homeless = other;
                table = 1 - table;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_those_of_the_article() {
        let steps = steps();
        let story = |key: char| &steps.iter().find(|step| step.key == key).unwrap().story;
        assert!(story('A').contains("Position 0"), "{}", story('A'));
        assert!(story('B').starts_with("B kicks A out; A finds"), "{}", story('B'));
        assert!(story('C').contains("free"), "{}", story('C'));
        assert!(story('D').starts_with("D kicks C out;"), "{}", story('D'));
        // "F takes E's place, E takes A's, A takes B's, B finds an empty one."
        let f = "F kicks E out, E kicks A out, A kicks B out; B finds";
        assert!(story('F').starts_with(f), "{}", story('F'));
        assert!(story('G').contains("refused"), "{}", story('G'));
        let [last, before] = [&steps[6].tables, &steps[5].tables];
        assert_eq!(last, before, "a refused insert changes nothing");
    }
}
