//! The options that say what is compared.

use anyhow::{Error, Result, bail};
use clap::Args;

use super::digest::Digest;
use super::fields::{self, Called, Delimiter, NUMBERS};
use super::form::{Form, Kind};
use super::keys::{ANY, Digested, Keys, Pick};
use super::spelling::{AS_IT_IS, Case, Joined, Spelling};

/// Options that all commands share which read lines.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is compared")]
pub(crate) struct KeyArgs {
    /// Compare these fields instead of the whole line: 2, or 1,3-5. The first is 1; several are
    /// joined by tabs. With --csv also column names: the first line of each file is then its
    /// header, and the first header is printed before all lines
    #[arg(short = 'k', long = "key", value_name = "FIELDS", value_parser = fields::called)]
    key: Option<Called>,

    /// Character between fields; 'blank' for any number of spaces and tabs, as in awk [default:
    /// tab, or comma with --csv]
    #[arg(short = 't', long, value_name = "CHAR", value_parser = fields::delimiter)]
    #[arg(requires = "key")]
    delimiter: Option<Delimiter>,

    /// Records are CSV: fields can be quoted, with line breaks in quotes
    #[arg(long, requires = "key")]
    csv: bool,

    /// Lines are JSON objects: compare the value of this field, as it is written if it is a number
    /// (1.0 is not 1); /a/b is b of a
    #[arg(long, value_name = "NAME", conflicts_with = "key")]
    json_field: Option<String>,

    /// Records are FASTQ, of four lines: compare their names, without what follows a blank
    #[arg(long, conflicts_with_all = ["key", "json_field"])]
    fastq: bool,

    /// Records are FASTA: compare their names, without what follows a blank
    #[arg(long, conflicts_with_all = ["key", "json_field", "fastq"])]
    fasta: bool,

    /// Ignore the case of ASCII letters
    #[arg(short, long)]
    ignore_case: bool,

    /// Ignore the case of all letters, by Unicode's case folding
    #[arg(long, conflicts_with = "ignore_case")]
    ignore_unicode_case: bool,

    /// Treat a CR before the end of a line as part of the end
    #[arg(long)]
    crlf: bool,

    /// Ignore white space around a key, or around each of its fields
    #[arg(long)]
    trim: bool,

    /// Compare this digest of what is compared, in hex; lists have such digests, in any case
    #[arg(long, value_name = "HASH")]
    digest: Option<Digest>,

    /// End with an error at the first record that cannot be compared
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The compared part of lists, where it is not the whole line.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What of lists is compared")]
pub(crate) struct ListArgs {
    /// Compare these fields of lists, with the delimiter and format of the input
    #[arg(short = 'K', long, value_name = "FIELDS", value_parser = fields::called)]
    list_key: Option<Called>,

    /// Character between fields of lists
    #[arg(long, value_name = "CHAR", value_parser = fields::delimiter, requires = "list_key")]
    list_delimiter: Option<Delimiter>,

    /// Lists are CSV
    #[arg(long, requires = "list_key")]
    list_csv: bool,

    /// Lists are lines of JSON objects: compare the value of this field
    #[arg(long, value_name = "NAME", conflicts_with = "list_key")]
    list_json_field: Option<String>,
}

/// The form of records with these fields, and which of them are compared.
fn fields_of(
    called: &Called,
    delimiter: Option<Delimiter>,
    csv: bool,
    separator: u8,
) -> Result<(Form, Pick)> {
    let kind = if csv {
        let Delimiter::Byte(delimiter) = delimiter.unwrap_or(Delimiter::Byte(b',')) else {
            bail!("fields of CSV lie between single characters: leave --csv away for blanks");
        };
        Kind::Csv { delimiter }
    } else {
        Kind::Line
    };
    let default = Delimiter::Byte(if csv { b',' } else { b'\t' });
    let delimiter = delimiter.unwrap_or(default);
    let pick = match called {
        Called::Numbers(fields) => Pick::Fields { fields: fields.clone(), delimiter },
        Called::Names(names) if csv => Pick::Named(names.clone()),
        Called::Names(names) => {
            bail!("-k {}: columns have names with --csv alone; {NUMBERS}", names.join(","))
        }
    };
    Ok((Form { kind, separator }, pick))
}

impl KeyArgs {
    /// The keys of the input.
    pub(crate) fn keys(&self, separator: u8) -> Result<Keys> {
        let lines = Form::lines(separator);
        let (form, pick) = match (&self.key, &self.json_field) {
            (Some(called), _) => fields_of(called, self.delimiter, self.csv, separator)?,
            (None, Some(name)) => (lines, Pick::Json(name.clone())),
            (None, None) if self.fastq => (Form { kind: Kind::Fastq, separator }, Pick::Name),
            (None, None) if self.fasta => (Form { kind: Kind::Fasta, separator }, Pick::Name),
            (None, None) => (lines, Pick::Whole),
        };
        let (digest, spelling) = (self.digest.map(Digested::Of), self.spelling());
        let are_several = self.key.as_ref().is_some_and(|it| *it.count().end() > 1);
        Ok(Keys { spelling, digest, ..Keys::of(form, pick) }.joined(are_several))
    }

    /// The keys of lists that are read alone: they have digests, if these are compared.
    ///
    /// # Errors
    ///
    /// If they would be names of reads, of which lists have one in a line.
    pub(crate) fn keys_of_list(&self, separator: u8) -> Result<Keys> {
        if self.fastq || self.fasta {
            bail!(
                "names of reads are compared with lists of names: index a list with one in each \
                 line"
            );
        }
        Ok(Keys { digest: self.digest.map(Digested::Is), ..self.keys(separator)? }.of_list())
    }

    fn spelling(&self) -> Spelling {
        let case = match self {
            Self { ignore_case: true, .. } => Case::Ascii,
            Self { ignore_unicode_case: true, .. } => Case::Unicode,
            _ => Case::Kept,
        };
        Spelling { case, crlf: self.crlf, trim: self.trim, joined: Joined::Nothing }
    }

    pub(crate) fn has_digest(&self) -> bool {
        self.digest.is_some()
    }

    /// Another field of the same records: a number, or a name where fields have names.
    pub(crate) fn field(&self, field: &str, separator: u8) -> Result<Keys> {
        let number = || fields::parse(field).map_err(Error::msg);
        let keys = self.keys(separator)?;
        let pick = match keys.pick {
            Pick::Json(_) => Pick::Json(field.to_owned()),
            Pick::Named(_) => {
                let called = fields::called(field).map_err(Error::msg)?;
                fields_of(&called, self.delimiter, true, separator)?.1
            }
            Pick::Fields { delimiter, .. } => Pick::Fields { fields: number()?, delimiter },
            _ => Pick::Fields { fields: number()?, delimiter: Delimiter::Byte(b'\t') },
        };
        let spelling = Spelling { crlf: self.crlf, trim: true, ..AS_IT_IS };
        Ok(Keys { pick, spelling, digest: None, ..keys })
    }
}

impl Keys {
    /// The same, if keys have several fields on any side.
    pub(crate) fn joined(mut self, are_several: bool) -> Self {
        // A line that is a whole key has tabs between its fields, and no newlines to escape.
        let is_joined = matches!(self.pick, Pick::Whole)
            && self.form == Form::lines(b'\n')
            && !self.spelling.trim;
        let joined = if are_several && !is_joined { Joined::Tabs } else { Joined::Nothing };
        self.spelling.joined = joined;
        self
    }

    /// Around digests of lists, blanks and line ends mean nothing.
    fn of_list(mut self) -> Self {
        self.spelling.trim |= self.digest.is_some();
        self
    }
}

impl ListArgs {
    /// The keys of lists. Without options for them, a line is compared as a whole, which must then
    /// be a field of the input, unless lines of lists have a syntax of their own.
    pub(crate) fn keys(&self, of: &KeyArgs, separator: u8, has_syntax: bool) -> Result<Keys> {
        let input = of.keys(separator)?;
        let delimiter = self.list_delimiter.or(of.delimiter);
        let (form, pick) = match (&self.list_key, &self.list_json_field, &input.pick) {
            (Some(called), ..) => {
                let csv = self.list_csv || of.csv;
                // The input's delimiter is that of its format.
                let same = of.csv || !self.list_csv;
                let delimiter = if same { delimiter } else { self.list_delimiter };
                fields_of(called, delimiter, csv, separator)?
            }
            (None, Some(name), _) => (Form::lines(separator), Pick::Json(name.clone())),
            _ if has_syntax => (Form::lines(separator), Pick::Whole),
            (None, None, Pick::Json(_)) => (Form::lines(separator), Pick::NoObject),
            (None, None, Pick::Name) => (Form::lines(separator), Pick::Only(Delimiter::Blanks)),
            (None, None, Pick::Named(names)) => match input.form.kind {
                Kind::Csv { delimiter: b'\t' } if names.len() > 1 => {
                    (Form::lines(separator), Pick::Whole)
                }
                Kind::Csv { delimiter } => (input.form, Pick::Only(Delimiter::Byte(delimiter))),
                _ => (input.form, Pick::Whole),
            },
            (None, None, Pick::Fields { fields, delimiter }) => {
                // Several fields are joined by tabs.
                let is_joined = fields.one().is_none() && *delimiter == Delimiter::Byte(b'\t');
                let is_blank = fields.one().is_none() && *delimiter == Delimiter::Blanks;
                let only = if is_joined || is_blank { Pick::Whole } else { Pick::Only(*delimiter) };
                (
                    if matches!(only, Pick::Whole) { Form::lines(separator) } else { input.form },
                    only,
                )
            }
            (None, None, _) => (input.form, Pick::Whole),
        };
        let of_reads = matches!(input.pick, Pick::Name) && of.digest.is_none();
        let count = of.key.as_ref().map_or(1..=1, Called::count);
        let is_equal = of.key.is_some() && of.digest.is_none();
        if let Some(list) = self.list_key.as_ref().filter(|_| is_equal).map(Called::count)
            && (list.end() < count.start() || count.end() < list.start())
        {
            bail!("-k and -K select different numbers of fields: nothing can be equal");
        }
        let is_whole = !self.is_given() && *count.end() > 1;
        let tabs = if has_syntax || of.digest.is_some() {
            ANY
        } else {
            (count.start() - 1, if is_whole { count.end() - 1 } else { usize::MAX })
        };
        let digest = of.digest.map(Digested::Is);
        let are_several = *count.end() > 1 || self.are_several();
        let keys = Keys { form, pick, digest, of_reads, tabs, ..input };
        Ok(keys.joined(are_several && of.digest.is_none()).of_list())
    }

    /// Whether keys of lists have several fields.
    pub(crate) fn are_several(&self) -> bool {
        self.list_key.as_ref().is_some_and(|it| *it.count().end() > 1)
    }

    /// Whether lists are read otherwise than the input.
    pub(crate) fn is_given(&self) -> bool {
        self.list_key.is_some() || self.list_json_field.is_some()
    }
}
