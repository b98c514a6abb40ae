import type { Manifest } from "../../../artifact/manifest.ts";
import type { TokenizerFiles } from "../../checkpoint/model-folder.ts";
import { packTokenizer } from "./pack-tokenizer.ts";

/** A tokenizer's part of an artifact. */
export interface ShippedTokenizer {
  readonly manifest: Manifest["tokenizer"];
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

/** Packs a tokenizer. One that cannot be packed is shipped as JSON. */
export function shipTokenizer({ json, config }: TokenizerFiles): ShippedTokenizer {
  const packed = packTokenizer(json);
  if (packed) {
    const file = "tokenizer.safetensors";
    return { manifest: { kind: "packed", file }, files: new Map([[file, packed]]) };
  }
  const manifest = { kind: "json", json: "tokenizer.json", config: "tokenizer_config.json" } as const;
  const files = new Map([
    [manifest.json, jsonBytes(json)],
    [manifest.config, jsonBytes(config)],
  ]);
  return { manifest, files };
}

const jsonBytes = (value: object): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));
