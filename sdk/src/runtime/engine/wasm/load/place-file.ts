import { LENGTH_BYTES } from "../../../../artifact/safetensors.ts";
import { MODEL } from "../constants/memory.ts";
import { TILE_OUTPUTS } from "../constants/tiles.ts";
import { ensure } from "../run/allocate.ts";
import type { Kernels } from "../run/kernels.ts";
import { type ModelFile, readModelFile, tensorsBegin } from "./model-file.ts";

/** A model file that is arriving in memory. */
export interface PlacedFile {
  /** Returns the place of the file's `size` bytes. It changes once, when the header has arrived. */
  bytes(): Uint8Array<ArrayBuffer>;
  /** Places the file when its header has arrived, and expands the weights that have arrived. */
  arrived(count: number, filled: number): void;
  /** Number of bytes up to the end of the header, once its length has arrived. */
  headerEnd(): number;
  /** The file, once its header has arrived. */
  file(): ModelFile;
}

/** Receives a model file of `size` bytes in memory that begins at the address MODEL. */
export function placeFile(memory: WebAssembly.Memory, kernels: Pick<Kernels, "expandInt4">, size: number): PlacedFile {
  let header = 0;
  let file: ModelFile | undefined;
  let expanded = 0;
  const bytes = () => new Uint8Array(memory.buffer, MODEL + (file?.expansions.begins ?? 0), size);

  function place(filled: number): ModelFile {
    const found = readModelFile(bytes());
    const { begins } = found.expansions;
    if (begins > 0) {
      ensure(memory, MODEL + begins + size);
      new Uint8Array(memory.buffer, MODEL).copyWithin(begins, 0, Math.min(filled, size));
    }
    return found;
  }

  return {
    bytes,
    arrived(count, filled) {
      if (count < LENGTH_BYTES) return;
      header ||= tensorsBegin(bytes());
      if (count < header) return;
      file ??= place(filled);
      const { begins, weights } = file.expansions;
      for (let next = weights[expanded]; next && next.end <= count; next = weights[expanded]) {
        const { begin, bytes: length, group, offset } = next;
        kernels.expandInt4(MODEL + begins + begin, length / group / TILE_OUTPUTS, group, MODEL + offset);
        expanded++;
      }
    },
    headerEnd: () => header,
    file: () => file as ModelFile,
  };
}
