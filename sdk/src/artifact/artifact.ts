import type { Destination } from "./fill.ts";
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
   * Streams a file that the manifest lists to its destination, checked chunk by chunk.
   *
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`, after which no more than what was told to be right is of
   *   use; `buffer_invalid` when the destination has another size
   */
  readInto(file: string, destination: Destination): Promise<void>;
}
