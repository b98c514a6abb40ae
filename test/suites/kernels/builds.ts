import { readFile } from "node:fs/promises";
import { instantiate } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import { pagesFor } from "#sdk/runtime/engine/wasm/run/memory-map.ts";
import type { KernelMachine } from "./place.ts";

/** The two builds: with relaxed SIMD, and without. */
export const builds = ["relaxed", "simd"] as const;
export type Build = (typeof builds)[number];

export const compiledKernels = async (build: Build): Promise<WebAssembly.Module> =>
  new WebAssembly.Module(await readFile(new URL(`../../../sdk/dist/kernels/${build}.wasm`, import.meta.url)));

export async function openKernels(build: Build, bytes: number): Promise<KernelMachine> {
  const memory = new WebAssembly.Memory({ initial: pagesFor(bytes) });
  return { memory, kernels: instantiate(await compiledKernels(build), memory) };
}
