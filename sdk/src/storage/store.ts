/** Where published models are read from, by `receive`. Every driver passes `test/suites/store-suite.ts`. */
export interface ObjectStore {
  /** For messages: which driver and where, never a secret. */
  readonly name: string;
  /** Milliseconds after which an object that has not been read to its end is given up. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Begins to read an object. Whatever this or the stream throws, and that either is late, is `storage_unavailable` to
   * readers.
   *
   * @param signal aborted when the object is given up
   * @returns the object's bytes, which readers do not change, or undefined when there is none under `key`
   */
  open(key: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | undefined>;
}

/** A store that models can be published to. */
export interface WritableStore extends ObjectStore {
  put(key: string, bytes: Uint8Array<ArrayBuffer>, options: { contentType: string }): Promise<void>;
  has(key: string): Promise<boolean>;
}
