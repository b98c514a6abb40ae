/**
 * A place that published models are read from. To add a driver: write a file in this folder, test the driver with
 * `test/suites/store-suite.ts`, and add the file to the exports of package.json. `functions/` chooses the driver of a
 * deployment. `cli/publish.ts` chooses the driver of `bert-edge publish`.
 */
export interface ObjectStore {
  /** Name of the driver and the location, for messages: `s3(models)`. The name never contains a secret. */
  readonly name: string;
  /** Time limit for reading a whole object, in ms. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** A sentence with the command that publishes to this store, for hints. */
  readonly publishHint?: string | undefined;
  /**
   * Opens an object for reading. If this call or the stream fails or takes too long, readers of the store throw
   * `storage_unavailable`.
   *
   * @param signal aborts the transfer
   * @returns the object's bytes, which readers must not change, or undefined when there is no object under `key`
   */
  open(key: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | undefined>;
}

/** A store that models can also be published to. */
export interface WritableStore extends ObjectStore {
  put(key: string, bytes: Uint8Array<ArrayBuffer>, options: { contentType: string }): Promise<void>;
  /** @returns the size of an object in bytes, or undefined when there is no object under `key` */
  size(key: string): Promise<number | undefined>;
}

/** A store whose objects can also be listed and removed. */
export interface ManagedStore extends WritableStore {
  /** Lists the objects whose keys begin with `prefix`, in any order. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /** Removes an object. Nothing happens if there is none. */
  remove(key: string): Promise<void>;
}

export interface StoredObject {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** When it was last written, by the clock of the store. */
  readonly modified: Date;
}
