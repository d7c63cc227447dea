//! Records with how often they occur.

use anyhow::{Result, bail};

use super::csv;
use super::form::Kind;
use super::json;
use super::keys::{Keys, Pick};

impl Keys {
    /// Appends a record, or a header, with how often it occurs: as a column of CSV, as a member of
    /// a JSON object, or before it.
    pub(crate) fn push_counted(&self, record: &[u8], count: Option<u64>, out: &mut Vec<u8>) {
        let count = count.map_or(COUNT.into(), |count| count.to_string());
        match (&self.pick, self.form.kind) {
            (_, Kind::Csv { delimiter }) => {
                let (sep, record) = self.form.without_sep(record);
                out.extend_from_slice(sep);
                out.extend_from_slice(count.as_bytes());
                out.push(delimiter);
                out.extend_from_slice(record);
            }
            (Pick::Json(_), _) => match record.trim_ascii_end().strip_suffix(b"}") {
                Some(members) if json::is_object(record) => {
                    let comma = if members.trim_ascii_end().ends_with(b"{") { "" } else { "," };
                    out.extend_from_slice(members);
                    out.extend_from_slice(format!("{comma}\"{COUNT}\":{count}}}").as_bytes());
                }
                _ => out.extend_from_slice(record),
            },
            _ => {
                out.extend_from_slice(format!("{count:>7} ").as_bytes());
                out.extend_from_slice(record);
            }
        }
    }

    /// Refuses a header that has a column of the name that counts get.
    pub(crate) fn refuse_column(&self, header: &[u8]) -> Result<()> {
        let Kind::Csv { delimiter } = self.form.kind else { return Ok(()) };
        let mut columns = csv::parts(self.form.without_sep(header).1, delimiter);
        refuse_if(columns.any(|it| csv::unquoted(it).trim_ascii() == COUNT.as_bytes()))
    }

    /// Refuses records that have a member of that name.
    pub(crate) fn refuse_members(&self, records: &[&[u8]]) -> Result<()> {
        let is_json = matches!(self.pick, Pick::Json(_));
        let may_have = |it: &&&[u8]| memchr::memmem::find(it, COUNT.as_bytes()).is_some();
        let mut records = records.iter().filter(|_| is_json).filter(may_have);
        refuse_if(records.any(|record| json::push(record, COUNT, &mut Vec::new()).is_ok()))
    }
}

/// The name of the column or member that is added.
const COUNT: &str = "count";

fn refuse_if(has_one: bool) -> Result<()> {
    if has_one {
        bail!("records have a field '{COUNT}' already, as -c calls what it adds: rename it first");
    }
    Ok(())
}
