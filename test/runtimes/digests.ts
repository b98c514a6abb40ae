import { sha256Hex } from "#sdk/artifact/sha256.ts";
import { type Engine, oneModel, type TokenIds, type VectorHead } from "#sdk/runtime/engine/engine.ts";
import { hasRelaxedSimd, type KernelModules, wasmEngine } from "#sdk/runtime/engine/wasm/index.ts";

/** The test sequences by model file: the content of `cases.json`. */
export type Cases = Readonly<Record<string, Case>>;

export interface Case {
  /** Token ids of each sequence. */
  readonly sequences: readonly (readonly number[])[];
  /** Name of the file with the pages of the token embedding table. Undefined if the model file has the whole table. */
  readonly pages?: string;
}

/** Returns all files that the cases need. */
export const filesOf = (cases: Cases): string[] =>
  Object.entries(cases).flatMap(([file, { pages }]) => [file, ...(pages === undefined ? [] : [pages])]);

export type Read = (file: string) => Promise<Uint8Array<ArrayBuffer>>;

/** The results of one runtime. */
export interface Digests {
  /** The runtime's `navigator.userAgent`. */
  readonly agent: string;
  readonly hasRelaxedSimd: boolean;
  /**
   * SHA-256 of the results of a run. A key names the model file, the kernel build and the head, with spaces in between.
   */
  readonly results: Readonly<Record<string, string>>;
}

const heads: Readonly<Record<string, VectorHead | undefined>> = {
  states: undefined,
  mean: { pooling: "mean", normalize: true },
  cls: { pooling: "cls", normalize: false },
  max: { pooling: "max", normalize: true },
};

/** Compiles the kernels, in runtimes that can compile from bytes. */
export async function compiled(read: Read): Promise<KernelModules> {
  const compile = async (build: string) => WebAssembly.compile(await read(`${build}.wasm`));
  const simd = await compile("simd");
  return hasRelaxedSimd() ? { relaxed: await compile("relaxed"), simd } : { simd };
}

/** Runs every case with both kernel builds, or with one build if the runtime has no relaxed SIMD. */
export async function digests(
  { relaxed, simd }: KernelModules,
  read: Read,
  engine: (modules: KernelModules) => Engine = wasmEngine,
): Promise<Digests> {
  const cases = JSON.parse(new TextDecoder().decode(await read("cases.json"))) as Cases;
  const builds: Record<string, KernelModules> = { ...(relaxed && { relaxed: { relaxed, simd } }), simd: { simd } };
  const results: Record<string, string> = {};
  for (const [file, { sequences: ids, pages }] of Object.entries(cases)) {
    const model = oneModel(await read(file), pages === undefined ? undefined : await read(pages));
    const sequences = ids.map((each): TokenIds => Int32Array.from(each));
    for (const [build, modules] of Object.entries(builds)) {
      const session = await engine(modules).load(model);
      for (const [head, how] of Object.entries(heads)) {
        const rows = await session.run(sequences, how);
        const bytes = await new Blob(rows).bytes();
        results[`${file} ${build} ${head}`] = await sha256Hex(bytes);
      }
      await session.release();
    }
  }
  return { agent: navigator.userAgent, hasRelaxedSimd: hasRelaxedSimd(), results };
}
