//! Many keys at once, for all sets.

/// Implements it for a class with the field `hasher` and a method `change`, which gives a set.
macro_rules! batch_methods {
    ($class:ident) => {
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
                let inserted = self.change(py, |set| {
                    py.detach(|| {
                        set.make_room(keys.len(), &mut |position| keys.hash(position));
                        crate::batch::insert(&keys, threads, |hashes, _, _, threads| {
                            set.insert_hashes(hashes, threads)
                        })
                    })
                })?;
                inserted.map_err(crate::errors::Raise::raise)
            }

            /// Adds many keys, as add_unique() does each, in their order; returns a numpy array of
            /// booleans that says which were new. Nulls are not. Takes what contains_many() takes.
            fn add_unique_many<'py>(
                &self,
                keys: &Bound<'py, PyAny>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let py = keys.py();
                let keys = crate::columns::Columns::new(keys, self.hasher)?;
                let mut mask = crate::batch::Mask::new(py, keys.len())?;
                let answers = mask.as_mut_slice();
                let inserted = self.change(py, |set| {
                    py.detach(|| {
                        set.make_room(keys.len(), &mut |position| keys.hash(position));
                        crate::batch::change_in_order(&keys, answers, |hashes, new| {
                            set.insert_unique_hashes(hashes, new)
                        })
                    })
                })?;
                inserted.map_err(crate::errors::Raise::raise)?;
                mask.into_array()
            }

            /// Removes many keys that were added, as discard() does each, in their order; returns a
            /// numpy array of booleans that says which were in. Takes what contains_many() takes.
            fn remove_many<'py>(&self, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let py = keys.py();
                let keys = crate::columns::Columns::new(keys, self.hasher)?;
                let mut mask = crate::batch::Mask::new(py, keys.len())?;
                let answers = mask.as_mut_slice();
                let removed = self.change(py, |set| {
                    py.detach(|| {
                        crate::batch::change_in_order(&keys, answers, |hashes, removed| {
                            set.remove_hashes(hashes, removed);
                            Ok(())
                        })
                    })
                })?;
                removed.map_err(crate::errors::Raise::raise)?;
                mask.into_array()
            }
        }
    };
}
pub(crate) use batch_methods;
