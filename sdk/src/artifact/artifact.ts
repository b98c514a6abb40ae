import type { Manifest } from "./manifest.ts";

/** A prepared model, wherever it lies. */
export interface Artifact {
  readonly manifest: Manifest;
  readonly version: string;
  /**
   * A file that the manifest lists, checked against its hashes.
   *
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`
   */
  read(file: string): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Streams a file that the manifest lists into `target`, checked chunk by chunk.
   *
   * @param target exactly the file's size; may be a view of WebAssembly memory, which must not grow meanwhile
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`, after which what `target` holds is of no use;
   *   `buffer_invalid` when it has another size
   */
  readInto(file: string, target: Uint8Array<ArrayBuffer>): Promise<void>;
}
