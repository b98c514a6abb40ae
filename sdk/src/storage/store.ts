/**
 * A place that published models are read from. To add a driver: write a file in this folder, test the driver with
 * `test/suites/store-suite.ts`, and add the file to the exports of package.json. A `…Store` reads, a `…Publisher`
 * writes too. `functions/` chooses the driver of a deployment. `cli/open-place.ts` chooses the driver of `bert-edge publish`.
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
   * @param range the bytes to read. Default: the whole object
   * @returns the object's bytes, which readers must not change, or undefined when there is no object under `key`
   */
  open(key: string, signal: AbortSignal, range?: ByteRange): Promise<ReadableStream<Uint8Array> | undefined>;
  /**
   * Checks the signature of a pointer. `signedStore` adds this method. Without it, pointers need no signature.
   *
   * @param text content of the object under `key`
   * @throws BertEdgeError `signature_invalid`
   */
  verifyPointer?(key: string, text: string): Promise<void>;
}

/** A part of an object: the bytes from `begin` up to, but not including, `end`. */
export interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

/** A store that models can also be published to. */
export interface WritableStore extends ObjectStore {
  /**
   * Writes an object.
   *
   * @throws BertEdgeError `publish_conflict` if `replaces` is given and the store has another object now; `storage_unavailable`
   */
  put(key: string, bytes: Uint8Array<ArrayBuffer>, options: PutOptions): Promise<void>;
  /**
   * Checks that the store obeys `replaces`, before a publication begins. A store without this method obeys it.
   *
   * @param key key of an object that nobody reads. The check may write this object.
   * @throws BertEdgeError `conditional_writes_missing`
   */
  assertConditional?(key: string): Promise<void>;
  /** @returns what the store knows about an object, or undefined when there is no object under `key` */
  head(key: string): Promise<StoredObject | undefined>;
}

export interface PutOptions {
  readonly contentType: string;
  /** Object that `put` may replace, as `head` returned it; `null` if no object may exist. Default: `put` replaces any object. */
  readonly replaces?: StoredObject | null;
}

/** A store whose objects can also be listed and removed. */
export interface ManagedStore extends WritableStore {
  /** Lists the objects whose keys begin with `prefix`, in any order. */
  list(prefix: string): AsyncIterable<StoredObject>;
  /**
   * Removes an object. Nothing happens if it does not exist.
   *
   * @param only the object as it was listed. It is removed only if nobody has written it again since, even with the same bytes. The
   *   drivers of S3 and R2 check this just before they remove it. S3 does not show a second write in the same second.
   * @returns whether an object may have been removed
   */
  remove(key: string, only?: StoredObject): Promise<boolean>;
  /** Lists the unfinished uploads of keys that begin with `prefix`. Only stores that keep the parts of such uploads have this method. */
  unfinished?(prefix: string): AsyncIterable<UnfinishedUpload>;
}

export interface StoredObject {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** Time of the last write, by the clock of the store. `head` of S3 gives whole seconds. */
  readonly modified: Date;
  /** Tag that differs for different contents of the key. Two writes of the same content can have the same etag: see `modified`. */
  readonly etag: string;
}

export interface UnfinishedUpload {
  readonly key: string;
  readonly began: Date;
  /** Removes the parts of the upload. */
  abort(): Promise<void>;
}
