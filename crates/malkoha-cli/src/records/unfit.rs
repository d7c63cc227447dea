//! Why records cannot take part, by their form.

use std::fmt;

use crate::time::SPELLINGS;

/// Why a record cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    Lacks,
    NoJson,
    /// A part of a document, or several objects.
    JsonPart,
    Deep,
    NoCsv,
    NoRead,
    /// A line of a list that would have to be one field.
    Several,
    Object,
    NoDigest(usize),
    NoDomain,
    NoNetwork,
    /// Of two addresses.
    Ends,
    /// Of an address and a number.
    Length,
    /// Addresses apart from each other, none of which is more likely meant.
    Scattered,
    Slashes,
    /// A command that takes out what it names.
    Undone,
    /// A rule that neither blocks nor lets pass, or that might be one.
    Else,
    /// A name's address in a file of hosts.
    Hosts,
    /// A name of the machine itself, in its file of hosts.
    Own,
    /// A rule for all addresses, or that excepts them.
    Every,
    /// A rule for what comes to an address.
    Goes,
    /// It is compared all the same, as an exception.
    Excepted,
    /// It is compared all the same, without what is no name.
    Partly,
    /// It is compared all the same, as all of the domain.
    Narrower,
    /// A rule for some of the requests to a domain.
    Conditional,
    /// A rule for some programs.
    Programs,
    /// A name of one label, unlike others of its list.
    Label,
    /// It stands for entries that are not in the list.
    Elsewhere,
    Encoded,
    /// It is compared all the same, and moves no time.
    NoTime,
    /// It is compared all the same, with more fields than its header.
    Long,
    /// It is compared all the same, with text behind a closing quote.
    Behind,
    /// It is compared all the same, by fields that are empty or stand for nothing.
    Empty,
}

/// Why records are reported that are compared all the same.
pub(super) const REPORTED: [Unfit; 7] = [
    Unfit::Excepted,
    Unfit::Partly,
    Unfit::Narrower,
    Unfit::NoTime,
    Unfit::Long,
    Unfit::Behind,
    Unfit::Empty,
];

impl Unfit {
    /// Whether the record is compared all the same.
    pub(super) fn takes_part(self) -> bool {
        REPORTED.contains(&self)
    }

    /// The message about a number of records.
    pub(super) fn said(self, count: u64) -> String {
        match self {
            _ if count == 1 => self.to_string(),
            Self::Excepted => "are exceptions".into(),
            Self::Narrower => "name pages or mailboxes, and stand for whole domains".into(),
            _ => self.to_string().replacen("has ", "have ", 1),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lacks => "lacks the field that is compared",
            Self::NoJson => "is no JSON object",
            Self::JsonPart => {
                "is no JSON object: write one a line first, as by jq -c . or jq -c '.[]'"
            }
            Self::Deep => "is nested too deep to be read",
            Self::NoCsv => "has a quote that is not closed",
            Self::NoRead => "is no record of this format",
            Self::Several => "has several fields: select some by --list-key (-K)",
            Self::Object => "is a JSON object: select a field by --list-json-field",
            Self::NoDigest(digits) => {
                return write!(f, "is no digest of {digits} hex digits: select one by --list-key");
            }
            Self::NoDomain => "has no domain",
            Self::NoNetwork => "has no address or network",
            Self::Ends => {
                "may be a range: write '-' between its ends, without blanks, or each in a line"
            }
            Self::Length => {
                "may be a network, or an address and a count: write '/' between them, or select a \
                 field"
            }
            Self::Scattered => "has addresses in several places: select one, or write lines",
            Self::Slashes => {
                "may be a comment or a URL: write '#' before a comment, 'https:' before a URL"
            }
            Self::Undone => "takes something out, or is disabled",
            Self::Else => "may do something else than block: write what is meant alone",
            Self::Hosts => "blocks a name: see --domain, or 'malkoha domains'",
            Self::Own => "names the machine itself: write the name alone, if it is meant",
            Self::Every => "is for all addresses: write '0.0.0.0/0' alone, if it is meant",
            Self::Goes => "names where packets go: write the address alone, if it is meant",
            Self::Excepted => "is an exception",
            Self::Partly => "has parts that are no domains",
            Self::Narrower => "names a page or a mailbox, and stands for the whole domain",
            Self::Conditional => "is for some requests to a domain alone: a type, a page or a site",
            Self::Programs => "is for some programs alone, as is what follows up to '!#endif'",
            Self::Label => "is no name with a dot as others: write '.name' for a top-level domain",
            Self::Elsewhere => "stands for entries elsewhere: name their file, or write them out",
            Self::Encoded => "may be Base64: decode the list, as by base64 -d",
            Self::NoTime => return write!(f, "has no time: --time-field takes {SPELLINGS}"),
            Self::Long => {
                "has more fields than the header: put fields that contain the delimiter in quotes"
            }
            Self::Behind => "has text behind a closing quote: double the quotes within a field",
            Self::Empty => "has an empty key",
        })
    }
}
