//! Sets whose keys expire, against an exact model, at times that move at random.

mod files;
mod fixed;
mod growing;
mod jammed;
mod model;
mod shared;
