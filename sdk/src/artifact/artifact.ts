import { BertEdgeError } from "./error.ts";
import type { Manifest, ManifestFile } from "./manifest.ts";
import { sha256Hex } from "./sha256.ts";

/** A prepared model, wherever it lies. */
export interface Artifact {
  readonly manifest: Manifest;
  readonly version: string;
  /**
   * A file that the manifest lists, checked against its hash.
   *
   * @throws BertEdgeError `artifact_corrupt`, or what the place it lies in throws
   */
  read(file: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** @throws BertEdgeError `artifact_corrupt` unless `bytes` are exactly what was hashed when the artifact was written */
export async function checkIntegrity(
  bytes: Uint8Array<ArrayBuffer> | undefined,
  { sha256, size }: ManifestFile,
  where: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const fault = !bytes
    ? "is missing"
    : bytes.length !== size
      ? `has ${bytes.length} bytes instead of ${size}`
      : (await sha256Hex(bytes)) !== sha256
        ? "does not match its SHA-256"
        : undefined;
  if (bytes && !fault) return bytes;
  throw new BertEdgeError("artifact_corrupt", `${where} ${fault}.`, {
    hint: "The copy is damaged: remove it, then publish or prepare the artifact again (publishing sends only what is not there).",
  });
}
