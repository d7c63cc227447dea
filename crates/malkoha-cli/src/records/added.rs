//! Records with a number that is added to each.

use anyhow::{Result, bail};

use super::csv;
use super::form::Kind;
use super::json;
use super::keys::{Keys, Pick};

/// The column or member that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// How often a record occurs.
    Count,
    /// The values of its key, with commas between them.
    Values,
}

impl Added {
    fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Values => "values",
        }
    }
}

impl Keys {
    /// Appends a record, or a header, with what is added: as the first column of CSV, or as a
    /// member of a JSON object. Returns `false` if records have neither.
    pub(crate) fn push_with(
        &self,
        added: Added,
        value: Option<&str>,
        record: &[u8],
        out: &mut Vec<u8>,
    ) -> bool {
        let value = value.unwrap_or(added.name());
        match (&self.pick, self.form.kind) {
            (_, Kind::Csv { delimiter }) => {
                let (sep, record) = self.form.without_sep(record);
                out.extend_from_slice(sep);
                let quote = if value.as_bytes().contains(&delimiter) { "\"" } else { "" };
                out.extend_from_slice(format!("{quote}{value}{quote}").as_bytes());
                out.push(delimiter);
                out.extend_from_slice(record);
            }
            (Pick::Json(_), _) => match record.trim_ascii_end().strip_suffix(b"}") {
                Some(members) if json::is_object(record) => {
                    let comma = if members.trim_ascii_end().ends_with(b"{") { "" } else { "," };
                    out.extend_from_slice(members);
                    let (name, are_several) = (added.name(), added == Added::Values);
                    let (open, close) = if are_several { ("[", "]") } else { ("", "") };
                    let member = format!("{comma}\"{name}\":{open}{value}{close}}}");
                    out.extend_from_slice(member.as_bytes());
                }
                _ => out.extend_from_slice(record),
            },
            _ => return false,
        }
        true
    }

    /// Appends a record with how often it occurs, or a header.
    pub(crate) fn push_counted(&self, record: &[u8], count: Option<u64>, out: &mut Vec<u8>) {
        let count = count.map(|count| count.to_string());
        if !self.push_with(Added::Count, count.as_deref(), record, out) {
            out.extend_from_slice(format!("{:>7} ", count.unwrap_or_default()).as_bytes());
            out.extend_from_slice(record);
        }
    }

    /// Refuses a header that has a column of the name that is added.
    pub(crate) fn refuse_column(&self, added: Added, header: &[u8]) -> Result<()> {
        let Kind::Csv { delimiter } = self.form.kind else { return Ok(()) };
        let mut columns = csv::parts(self.form.without_sep(header).1, delimiter);
        let is_it = |it| csv::unquoted(it).trim_ascii() == added.name().as_bytes();
        refuse_if(columns.any(is_it), added)
    }

    /// Refuses records that have a member of that name.
    pub(crate) fn refuse_members(&self, added: Added, records: &[&[u8]]) -> Result<()> {
        let is_json = matches!(self.pick, Pick::Json(_));
        let has = |record: &[u8], text: &str| memchr::memmem::find(record, text.as_bytes());
        // Its letters might be escaped.
        let may_have = |it: &[u8]| has(it, added.name()).or_else(|| has(it, "\\u")).is_some();
        let mut records = records.iter().filter(|it| is_json && may_have(it));
        refuse_if(records.any(|record| json::has(record, added.name())), added)
    }
}

fn refuse_if(has_one: bool, added: Added) -> Result<()> {
    if has_one {
        let name = added.name();
        bail!("records have a field '{name}' already, as what is added is called: rename it first");
    }
    Ok(())
}
