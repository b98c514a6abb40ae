/** Where published models are read from. Every driver passes `test/suites/store-suite.ts`. */
export interface ObjectStore {
  /** For messages: which driver and where, never a secret. */
  readonly name: string;
  /**
   * @returns the whole object, or undefined when there is none under `key`
   * @throws BertEdgeError `storage_unavailable` when the store cannot be reached, refuses, or is late
   */
  get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** A store that models can be published to. */
export interface WritableStore extends ObjectStore {
  put(key: string, bytes: Uint8Array<ArrayBuffer>, options: { contentType: string }): Promise<void>;
  has(key: string): Promise<boolean>;
}
