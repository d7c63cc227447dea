//! What the fuzz targets do with an input. The library's tests do the same with the inputs that are
//! kept.

pub mod decode;
pub mod growth;
pub mod operations;
