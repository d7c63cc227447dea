//! The methods that sets and maps have alike.

/// Implements them for a class with the fields `store`, of this content, and `hasher`.
macro_rules! common_methods {
    ($class:ident, $content:ty, $name:literal) => {
        impl $class {
            fn from_store(py: Python<'_>, store: crate::store::Store<$content>) -> Self {
                let hasher = store.hasher(py);
                Self { store, hasher }
            }
        }

        #[pymethods]
        impl $class {
            fn __contains__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
                let hash = crate::key::hash(key, self.hasher)?;
                Ok(self.store.read_one(py, |table| table.contains_hash(hash)))
            }

            fn __len__(&self, py: Python<'_>) -> usize {
                crate::common_methods::length(self.store.read_one(py, |table| table.len()))
            }

            fn __bool__(&self, py: Python<'_>) -> bool {
                self.store.read_one(py, |table| table.len() > 0)
            }

            /// The number of copies of a key: never too low, and too high with the probability of a
            /// false positive.
            fn count(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
                let hash = crate::key::hash(key, self.hasher)?;
                Ok(self.store.read_one(py, |table| table.count_hash(hash)))
            }

            /// Looks up many keys; returns a numpy array of booleans. Nulls are absent.
            ///
            /// Keys are a numpy array of integers, dates, bytes or text; anything that gives Arrow
            /// data, of which the rows of a table are tuples; a pandas frame; or an iterable of keys.
            /// Uses up to `threads` threads for more than 65,536 keys; by default as many as the
            /// process may.
            #[pyo3(signature = (keys, *, threads=None))]
            fn contains_many<'py>(
                &self,
                keys: &Bound<'py, PyAny>,
                #[pyo3(from_py_with = crate::arguments::threads)] threads: Option<usize>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let py = keys.py();
                let keys = crate::columns::Columns::new(keys, self.hasher)?;
                let mut mask = crate::batch::Mask::new(py, keys.len())?;
                let answers = mask.as_mut_slice();
                crate::batch::in_rounds(py, &keys, crate::batch::ROUND, |range| {
                    self.store.read(py, |table| {
                        py.detach(|| {
                            let find = |hashes: &[u64], found: &mut [bool]| {
                                table.contains_hashes(hashes, found);
                            };
                            crate::batch::look_up(&keys, range, threads, answers, find);
                        });
                    });
                    Ok(())
                })?;
                mask.into_array()
            }

            /// The count() of each of many keys: a numpy array of uint64. Nulls have none. Takes
            /// the same keys as contains_many().
            #[pyo3(signature = (keys, *, threads=None))]
            fn count_many<'py>(
                &self,
                keys: &Bound<'py, PyAny>,
                #[pyo3(from_py_with = crate::arguments::threads)] threads: Option<usize>,
            ) -> PyResult<Bound<'py, PyAny>> {
                let py = keys.py();
                let keys = crate::columns::Columns::new(keys, self.hasher)?;
                let mut numbers = crate::batch::Answers::new(py, keys.len(), "uint64")?;
                let counts = numbers.as_mut_slice();
                crate::batch::in_rounds(py, &keys, crate::batch::ROUND, |range| {
                    self.store.read(py, |table| {
                        py.detach(|| {
                            let count = |hashes: &[u64], counts: &mut [u64]| {
                                for (&hash, count) in hashes.iter().zip(counts) {
                                    *count = table.count_hash(hash);
                                }
                            };
                            crate::batch::look_up(&keys, range, threads, counts, count);
                        });
                    });
                    Ok(())
                })?;
                Ok(numbers.into_array())
            }

            /// The present false-positive rate, between 0 and 1.
            fn expected_fpr(&self, py: Python<'_>) -> f64 {
                self.store.read(py, |table| table.expected_fpr())
            }

            /// Bytes of memory, or of the mapped file, that the table takes.
            #[getter]
            fn size_in_bytes(&self, py: Python<'_>) -> u64 {
                self.store.read_one(py, |table| table.size_in_bytes())
            }

            /// Distinct keys that it was built for; with growth, the initial capacity.
            #[getter]
            fn capacity(&self, py: Python<'_>) -> u64 {
                self.store.read_one(py, |table| table.capacity())
            }

            /// "growable", "fixed", "shared", or "mapped": of fixed size in a file, read-only.
            #[getter]
            fn kind(&self) -> &'static str {
                self.store.kind()
            }

            /// The seed of the hash, None if the hash has a key.
            #[getter]
            fn seed(&self) -> Option<u64> {
                self.hasher.seed()
            }

            /// The 16 bytes of the hash's key, None if the hash has a seed. It is a secret.
            #[getter]
            fn key<'py>(&self, py: Python<'py>) -> Option<Bound<'py, pyo3::types::PyBytes>> {
                crate::options::key(self.hasher, py)
            }

            /// Saves it as the file at `path`, and replaces an earlier file. Writes under another
            /// name, syncs and renames, so the file is always whole.
            fn save(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
                crate::files::save(py, &self.store, &path)
            }

            /// The bytes of the file that save() would write.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
                let bytes = self.store.read(py, |table| py.detach(|| table.to_bytes()));
                pyo3::types::PyBytes::new(py, &bytes)
            }

            /// Reads the file at `path` into memory and checks every byte of it. With `shared=True`
            /// a growable filter is one whose changes do not wait for each other.
            #[staticmethod]
            #[pyo3(signature = (path, *, shared=false))]
            fn load(py: Python<'_>, path: std::path::PathBuf, shared: bool) -> PyResult<Self> {
                let store = crate::files::load(py, &path)?;
                crate::files::share(py, store, shared).map(|store| Self::from_store(py, store))
            }

            /// Maps the file at `path`: processes that open one file share its memory.
            ///
            /// Of fixed size, it opens at once and is read-only. One that grows is read once, to
            /// check it. Changes are in memory of this process, and save() writes them.
            ///
            /// Nobody may write to the file or shorten it while it is open, as with numpy.memmap.
            /// Replacing it, as save() does, is fine.
            #[staticmethod]
            fn open(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
                crate::files::open(py, &path).map(|store| Self::from_store(py, store))
            }

            /// Reads the bytes of a whole file, and checks all of them. `shared` is as in load().
            #[staticmethod]
            #[pyo3(signature = (data, shared=false))]
            fn from_bytes(
                py: Python<'_>,
                data: pyo3::pybacked::PyBackedBytes,
                shared: bool,
            ) -> PyResult<Self> {
                let store = crate::files::from_bytes(py, &data)?;
                crate::files::share(py, store, shared).map(|store| Self::from_store(py, store))
            }

            /// A copy in memory, which can change even if this one is mapped.
            pub(crate) fn copy(&self, py: Python<'_>) -> PyResult<Self> {
                self.store.copy(py).map(|store| Self::from_store(py, store))
            }

            fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
                self.copy(py)
            }

            fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
                self.copy(py)
            }

            fn __reduce__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, pyo3::types::PyBytes>, bool))> {
                let class = py.get_type::<Self>();
                let is_shared = self.store.kind() == "shared";
                Ok((class.getattr("from_bytes")?, (self.to_bytes(py), is_shared)))
            }

            fn __repr__(&self, py: Python<'_>) -> String {
                self.store.read(py, |table| {
                    format!(
                        "<{} of {} keys in {} bytes, {}, expected_fpr {:.2e}>",
                        $name,
                        table.len(),
                        table.size_in_bytes(),
                        self.store.kind(),
                        table.expected_fpr()
                    )
                })
            }

            /// Whether both are of one kind and their files would be equal. Filters of equal keys
            /// that were added in another order can differ.
            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> Py<PyAny> {
                match other.cast::<Self>() {
                    Ok(other) => {
                        let equal = self.store.equals(&other.get().store, py);
                        pyo3::types::PyBool::new(py, equal).to_owned().into_any().unbind()
                    }
                    Err(_) => py.NotImplemented(),
                }
            }
        }
    };
}
pub(crate) use common_methods;

/// A length as Python's, which end there.
pub(crate) fn length(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX).min(isize::MAX.cast_unsigned())
}
