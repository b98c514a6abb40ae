import { extname } from "node:path";
import { inChild } from "../isolate/in-child.ts";
import { COMPARISON } from "./comparison.ts";
import type { ModelParity } from "./model-parity.ts";

/**
 * `modelParity` in a process of its own.
 *
 * @throws BertEdgeError `parity_failed`, or what `modelParity` throws
 */
export const parityInProcess = (original: string, rewritten: string): Promise<ModelParity> =>
  inChild(new URL(`./parity-child${extname(import.meta.url)}`, import.meta.url), [original, rewritten], COMPARISON);
