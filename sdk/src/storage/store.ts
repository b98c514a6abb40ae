/**
 * A place that published models are read from. To add a driver: write a file here, run `test/suites/store-suite.ts` on it,
 * and give it an entry in package.json. `functions/` chooses the driver of a deployment, `cli/publish.ts` that of `publish`.
 */
export interface ObjectStore {
  /** Name of the driver and the location, for messages: `s3(models)`. The name never contains a secret. */
  readonly name: string;
  /** Time limit for reading a whole object, in ms. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Opens an object for reading. Readers report every error of this call and of its stream, and a timeout, as
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
  has(key: string): Promise<boolean>;
}
