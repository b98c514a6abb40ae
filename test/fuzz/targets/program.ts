import { BertEdgeError } from "#sdk/artifact/error.ts";
import { totalLength } from "#sdk/artifact/total-length.ts";
import type { VectorHead } from "#sdk/runtime/engine/engine.ts";
import { idsOf } from "#sdk/runtime/engine/token-sequence.ts";
import { CALL, KERNEL_DATA, MODEL } from "#sdk/runtime/engine/wasm/constants/memory.ts";
import { assertFinite } from "#sdk/runtime/engine/wasm/load/assert-finite.ts";
import { parseProgram } from "#sdk/runtime/engine/wasm/load/parse-program.ts";
import type { CheckedProgram } from "#sdk/runtime/engine/wasm/run/checked-program.ts";
import { instantiate, type Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import { BATCH_TOKENS } from "#sdk/runtime/engine/wasm/run/layout.ts";
import { pagesFor } from "#sdk/runtime/engine/wasm/run/memory-map.ts";
import { roomFor } from "#sdk/runtime/engine/wasm/run/room.ts";
import { segmentsOf } from "#sdk/runtime/engine/wasm/run/segments.ts";
import { createSession } from "#sdk/runtime/engine/wasm/run/session.ts";
import { fusedGraph } from "../../fixtures/fused-graph.ts";
import { pagedFile } from "../../fixtures/paged-file.ts";
import { placedFile } from "../../fixtures/placed-file.ts";
import { randomProgramFile } from "../../fixtures/random-program/file.ts";
import { randomNumbers } from "../../fixtures/seeded.ts";
import { TINY_EDGE, type TinyEncoder, tinyEdgeFile, tinyEncoders } from "../../fixtures/tiny-edge-file.ts";
import { compiledKernels } from "../../suites/kernels/builds.ts";
import { damagedProgram } from "../damaged-program.ts";
import { refusalCode } from "../outcome.ts";
import type { Target } from "../target.ts";

type File = Uint8Array<ArrayBuffer>;

/** A model file, and the pages of its token embedding table if it is cut. */
interface Model {
  readonly file: File;
  readonly pages?: Uint8Array;
}

const RANDOM_PROGRAMS = 40;
const MEMORY = 2 ** 21;
/** Of the fifty rows, these stay in the file. */
const RESIDENT = [1, 20, 49];
const HEAD: VectorHead = { pooling: "mean", normalize: true };

/**
 * Programs of the edge engine: those that are accepted run, and must change no memory outside of their values and scratch. While it is
 * loaded, a file must change no memory outside of its own place.
 */
export const program: Target = {
  runs: { long: 1_000_000, short: 800 },
  refusals: ["model_invalid", "model_version", "memory_full", "artifact_corrupt"],
  async start() {
    const simd = await compiledKernels("simd");
    const encoders = await Promise.all(
      (Object.keys(tinyEncoders) as TinyEncoder[]).map((name) => tinyEdgeFile(name, true)),
    );
    const paged = await Promise.all(RESIDENT.map((resident, i) => pagedModel(resident, i === 0 ? 8 : 4)));
    const drawn = Array.from({ length: RANDOM_PROGRAMS }, (_, seed) => randomProgramFile(seed, 2 + (seed % 13)));
    const sound: Model[] = [...paged, ...[...encoders, ...drawn].map((file) => ({ file }))];
    const memory = new WebAssembly.Memory({ initial: pagesFor(MEMORY), maximum: pagesFor(MEMORY) });
    for (const model of sound) {
      const found = await run(simd, model, memory, 0);
      if (found !== "accepted") throw new Error(`A sound program is refused: ${found}`);
    }
    return (seed) => {
      // A third of the attempts is for the few programs with pages.
      const { file, pages } = (seed % 3 === 0 ? paged[(seed / 3) % paged.length] : sound[seed % sound.length]) as Model;
      return run(simd, { file: damagedProgram(file, seed), ...(pages && { pages }) }, memory, seed);
    };
  },
};

async function pagedModel(resident: number, tableBits: 8 | 4): Promise<Model> {
  const { config, weights } = tinyEncoders.bert();
  return pagedFile(await fusedGraph(config, weights), { ...TINY_EDGE, pairs: true }, { resident, tableBits });
}

/**
 * Loads a model file, of which a random part arrives first, and runs the same request in two sessions. Before the first one, fills the
 * memory after the file with the byte 0x00, and before the second one with 0x7f. If the result depends on these bytes, the two
 * sessions give different results.
 *
 * @throws when memory before the end of the file or after the scratch has changed, or when the second session gives another result
 */
async function run(
  simd: WebAssembly.Module,
  { file, pages = new Uint8Array() }: Model,
  memory: WebAssembly.Memory,
  seed: number,
): Promise<string> {
  const bytes = Buffer.from(memory.buffer);
  bytes.fill(0xa5);
  const kernels = instantiate(simd, memory);
  try {
    const program = load(kernels, file, memory, seed);
    const readPages = async (begin: number, end: number) => Uint8Array.from(pages.subarray(begin, end));
    const open = () => {
      const session = createSession(memory, kernels, program, file.length, readPages);
      session.begin();
      return session;
    };
    open();
    const segments = segmentsOf(program);
    const random = randomNumbers(1);
    const texts = [1, 3, 7].map((length) =>
      Int32Array.from({ length: Math.min(length, program.maxTokens) }, () => Math.floor(program.vocabulary * random())),
    );
    // The last rows of the tables.
    texts.push(Int32Array.of(program.vocabulary - 1, 0).subarray(0, program.maxTokens));
    const pairs = program.pairs ? texts.map((ids) => ({ ids, secondFrom: Math.floor(ids.length / 2) })) : [];
    const sequences = [...texts, ...pairs];
    const total = totalLength(sequences.map(idsOf));
    // A new session has room for one full batch, and grows when a request needs more.
    const tokens = Math.max(total, Math.min(BATCH_TOKENS, program.maxTokens));
    const fileEnd = MODEL + program.fileBegins + file.length;
    const { regions } = roomFor({ kernels, program, segments }, fileEnd - MODEL, tokens);
    if (regions.end >= MEMORY || memory.buffer.byteLength !== MEMORY) throw new Error("The memory is too small.");
    const before = Buffer.from(bytes);
    const { of, width } = program.values[program.output] as (typeof program.values)[number];
    const head = of === "token" && width % 4 === 0 ? HEAD : undefined;
    const outside = [
      [0, CALL],
      [KERNEL_DATA, fileEnd],
      [regions.end, MEMORY],
    ] as const;
    const results: Buffer[] = [];
    for (const filling of [0x00, 0x7f]) {
      bytes.fill(filling, fileEnd, regions.end);
      const found = await open().run(sequences, head);
      results.push(Buffer.concat(found.map(({ buffer }) => Buffer.from(buffer))));
      assertSame(before, bytes, outside);
    }
    const [first, second] = results as [Buffer, Buffer];
    if (Buffer.compare(first, second) !== 0) throw new Error("The second session gives another result.");
    return "accepted";
  } catch (error) {
    // Its cause is an error of the runtime.
    return error instanceof BertEdgeError && error.code === "memory_full" ? error.code : refusalCode(error);
  }
}

/** @throws BertEdgeError if the file is refused, and an Error if memory outside of the file's place has changed */
function load(kernels: Kernels, file: File, memory: WebAssembly.Memory, seed: number): CheckedProgram {
  const before = Buffer.from(memory.buffer.slice());
  let end = MODEL + file.length;
  let program: CheckedProgram | undefined;
  let refused: unknown;
  try {
    const place = placedFile(memory, kernels, file, [Math.floor(file.length * randomNumbers(seed)())]);
    end += place.file().expansions.begins;
    program = parseProgram(place.file());
    assertFinite(place.bytes(), program);
  } catch (error) {
    program = undefined;
    refused = error;
  }
  assertSame(before, Buffer.from(memory.buffer), [
    [0, MODEL],
    [end, MEMORY],
  ]);
  if (!program) throw refused;
  return program;
}

/** @throws when memory in these ranges has changed */
function assertSame(before: Buffer, after: Buffer, ranges: readonly (readonly [from: number, to: number])[]): void {
  for (const [from, to] of ranges) {
    if (Buffer.compare(after.subarray(from, to), before.subarray(from, to)) !== 0)
      throw new Error(`Memory between ${from} and ${to} has changed.`);
  }
}
