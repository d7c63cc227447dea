//! Many keys at once, for all sets.

/// Implements it for a class with the field `hasher` and a method `change`, which gives a set with
/// the trait `$changes`.
macro_rules! batch_methods {
    ($class:ident, $changes:ident) => {
        impl $class {
            /// Calls `change` for chunks of hashes of many keys, in their order. Returns its
            /// answers as a numpy array of booleans, False for nulls.
            fn change_many<'py>(
                &self,
                keys: &Bound<'py, PyAny>,
                makes_room: bool,
                change: fn(
                    &mut dyn $changes,
                    &[u64],
                    &mut [bool],
                ) -> Result<(), malkoha::BatchError>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let py = keys.py();
                let keys = crate::columns::Columns::new(keys, self.hasher)?;
                let mut mask = crate::batch::Mask::new(py, keys.len())?;
                let answers = mask.as_mut_slice();
                let mut refused = crate::batch::Refused::default();
                crate::batch::in_rounds(py, &keys, crate::batch::ROUND, |range| {
                    self.change(py, |set| {
                        py.detach(|| {
                            if makes_room && range.start == 0 {
                                set.make_room(keys.len(), &mut |position| keys.hash(position));
                            }
                            let change =
                                |hashes: &[u64], answers: &mut [bool]| change(set, hashes, answers);
                            let refused = &mut refused;
                            crate::batch::change_in_order(&keys, range, answers, refused, change);
                        });
                    })
                })?;
                refused.raise()?;
                mask.into_array()
            }
        }

        #[pymethods]
        impl $class {
            /// Adds many keys, as add() does each; nulls are left out. Takes what contains_many()
            /// takes.
            ///
            /// If some find no place, an InsertError names their positions, and all others are in.
            /// A filter that grows makes room for large batches at once. Uses up to `threads`
            /// threads for them; by default as many as the process may.
            #[pyo3(signature = (keys, *, threads=None))]
            pub(crate) fn add_many(
                &self,
                keys: &Bound<'_, PyAny>,
                #[pyo3(from_py_with = crate::arguments::threads)] threads: Option<usize>,
            ) -> PyResult<()> {
                let py = keys.py();
                let keys = crate::columns::Columns::new(keys, self.hasher)?;
                let round = crate::batch::insert_round(&keys);
                let mut refused = crate::batch::Refused::default();
                crate::batch::in_rounds(py, &keys, round, |range| {
                    self.change(py, |set| {
                        py.detach(|| {
                            if range.start == 0 {
                                set.make_room(keys.len(), &mut |position| keys.hash(position));
                            }
                            let refused = &mut refused;
                            crate::batch::insert(&keys, range, threads, refused, |hashes, _, n| {
                                set.insert_hashes(hashes, n)
                            });
                        });
                    })
                })?;
                refused.raise()
            }

            /// Adds many keys, as add_unique() does each, in their order; returns a numpy array of
            /// booleans that says which were new. Nulls are not. Takes what contains_many() takes.
            fn add_unique_many<'py>(
                &self,
                keys: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.change_many(keys, true, |set, hashes, new| {
                    set.insert_unique_hashes(hashes, new)
                })
            }

            /// Removes many keys that were added, as discard() does each, in their order; returns a
            /// numpy array of booleans that says which were in. Takes what contains_many() takes.
            fn remove_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                self.change_many(keys, false, |set, hashes, removed| {
                    set.remove_hashes(hashes, removed);
                    Ok(())
                })
            }
        }
    };
}
pub(crate) use batch_methods;
