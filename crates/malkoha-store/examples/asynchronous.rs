//! A store behind futures, with tokio. Calls of a store do not wait for other tasks, but for the
//! device: so puts go to one thread, which writes and syncs all together that came meanwhile, and
//! gets to threads for blocking work.
//!
//! ```text
//! cargo run -p malkoha-store --example asynchronous
//! ```

use std::sync::Arc;

use malkoha_store::{Batch, Durability, Error, Options, Store};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinSet, spawn_blocking};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The most puts in progress: further ones wait, so memory is bounded.
const WAITING: usize = 1024;

/// A put, and the task that waits until it is durable.
struct Put {
    key: Vec<u8>,
    value: Vec<u8>,
    done: oneshot::Sender<Result<(), Arc<Error>>>,
}

/// A store that many tasks share.
#[derive(Clone)]
struct Client {
    store: Arc<Store>,
    puts: mpsc::Sender<Put>,
}

impl Client {
    /// Inside a runtime. The thread that writes ends when the last client is dropped.
    fn new(store: Store) -> Self {
        let store = Arc::new(store);
        let (puts, mut received) = mpsc::channel(WAITING);
        let writer = Arc::clone(&store);
        spawn_blocking(move || {
            let mut waiting = Vec::new();
            while received.blocking_recv_many(&mut waiting, WAITING) > 0 {
                write(&writer, waiting.drain(..));
            }
        });
        Self { store, puts }
    }

    /// Returns when the put is durable.
    async fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        let (done, result) = oneshot::channel();
        let put = Put { key: key.to_vec(), value: value.to_vec(), done };
        self.puts.send(put).await.map_err(|_| "the writer has ended")?;
        Ok(result.await??)
    }

    /// Where the whole store is in memory, `self.store.get(key)` takes less than a microsecond and
    /// needs no thread. Otherwise it may wait for the device.
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        let (store, key) = (Arc::clone(&self.store), key.to_vec());
        Ok(spawn_blocking(move || store.get(&key)).await??)
    }
}

/// Writes all puts together, with one sync, and notifies the waiting tasks.
fn write(store: &Store, puts: impl Iterator<Item = Put>) {
    let (mut batch, mut written) = (Batch::new(), Vec::new());
    // Who does not wait any more need not be told.
    for Put { key, value, done } in puts {
        match batch.put(&key, &value) {
            Ok(_) => written.push(done),
            Err(error) => drop(done.send(Err(Arc::new(error)))),
        }
    }
    let result = store.apply(&batch).map(drop).map_err(Arc::new);
    for done in written {
        let _ = done.send(result.clone());
    }
}

async fn run(store: Store) -> Result<(), Failure> {
    let client = Client::new(store);
    let mut tasks = JoinSet::new();
    for task in 0..100 {
        let client = client.clone();
        tasks.spawn(async move {
            for n in 0..10 {
                let key = format!("task {task}, key {n}");
                client.put(key.as_bytes(), b"value").await?;
                // What a task has put it sees, and after a power cut too.
                assert_eq!(client.get(key.as_bytes()).await?.as_deref(), Some(&b"value"[..]));
            }
            Ok::<(), Failure>(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    assert!(client.put(&[0; 1 << 17], b"the key is too long").await.is_err());
    let metrics = client.store.metrics();
    println!("{} puts, {} syncs", metrics.written_records, metrics.syncs);
    assert_eq!(client.store.len(), 1000);
    assert!(metrics.syncs < 500);
    Ok(())
}

/// One thread for all tasks, and those for blocking work.
#[cfg_attr(test, test)]
fn main() -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let options = Options::new().durability(Durability::Always);
    let store = Store::open(directory.path(), &options)?;
    // The runtime waits for the thread that writes, and with it for the store to be closed.
    Builder::new_current_thread().build()?.block_on(run(store))
}
