import type { Destination } from "./fill.ts";
import type { Manifest } from "./manifest.ts";

/** A prepared model, in a folder or in a store. */
export interface Artifact {
  readonly manifest: Manifest;
  readonly version: string;
  /**
   * Reads a file that the manifest lists and checks it against its hash.
   *
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`
   */
  read(file: string): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Streams a file that the manifest lists into `destination`, checked chunk by chunk. After an error, only the bytes reported
   * to `destination.checked` are valid.
   *
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`; `buffer_invalid` when the destination has another size
   */
  readInto(file: string, destination: Destination): Promise<void>;
}

/** An artifact with the exact bytes of its manifest, which `publish` copies. */
export interface PublishableArtifact extends Artifact {
  readonly manifestBytes: Uint8Array<ArrayBuffer>;
}
