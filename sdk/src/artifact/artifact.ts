import type { Destination } from "./fill.ts";
import type { Manifest } from "./manifest.ts";
import type { Measurements } from "./measurements.ts";

/** A prepared model in a folder, in a store or in memory. */
export interface Artifact {
  readonly manifest: Manifest;
  /** First 12 digits of the manifest's SHA-256: the same content has the same version. */
  readonly version: string;
  /** Time and memory of the targets. The version does not depend on them. */
  readonly measurements: Measurements;
  /**
   * Reads a file that the manifest lists, and checks it against its hash.
   *
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`
   */
  read(file: string): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Streams a file of the manifest into `destination`, and checks the file chunk by chunk. After an error, only the
   * bytes that were reported to `destination.checked` are valid.
   *
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`; `buffer_invalid` when the size of `destination`
   *   differs from the file's size
   */
  readInto(file: string, destination: Destination): Promise<void>;
  /**
   * Reads a part of a file of the manifest. The caller checks its content.
   *
   * @param end offset after the last byte
   * @throws BertEdgeError `artifact_corrupt` if the file is missing or has no such part; `storage_unavailable`
   */
  readPart(file: string, begin: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** An artifact that can be published: it also has the bytes of its manifest. */
export interface PublishableArtifact extends Artifact {
  readonly manifestBytes: Uint8Array<ArrayBuffer>;
}
