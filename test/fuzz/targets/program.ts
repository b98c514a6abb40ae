import { totalLength } from "#sdk/artifact/total-length.ts";
import type { VectorHead } from "#sdk/runtime/engine/engine.ts";
import { idsOf } from "#sdk/runtime/engine/token-sequence.ts";
import { CALL, KERNEL_DATA, MODEL } from "#sdk/runtime/engine/wasm/constants/memory.ts";
import { assertFinite } from "#sdk/runtime/engine/wasm/load/assert-finite.ts";
import { parseProgram } from "#sdk/runtime/engine/wasm/load/parse-program.ts";
import type { CheckedProgram } from "#sdk/runtime/engine/wasm/run/checked-program.ts";
import { instantiate, type Kernels } from "#sdk/runtime/engine/wasm/run/kernels.ts";
import { pagesFor } from "#sdk/runtime/engine/wasm/run/memory-map.ts";
import { roomFor } from "#sdk/runtime/engine/wasm/run/room.ts";
import { segmentsOf } from "#sdk/runtime/engine/wasm/run/segments.ts";
import { BATCH_TOKENS, createSession } from "#sdk/runtime/engine/wasm/run/session.ts";
import { placedFile } from "../../fixtures/placed-file.ts";
import { randomProgramFile } from "../../fixtures/random-program/file.ts";
import { randomNumbers } from "../../fixtures/seeded.ts";
import { type TinyEncoder, tinyEdgeFile, tinyEncoders } from "../../fixtures/tiny-edge-file.ts";
import { compiledKernels } from "../../suites/kernels/builds.ts";
import { damagedProgram } from "../damaged-program.ts";
import { refusalCode } from "../outcome.ts";
import type { Target } from "../target.ts";

type File = Uint8Array<ArrayBuffer>;

const RANDOM_PROGRAMS = 40;
const MEMORY = 2 ** 22;
const HEAD: VectorHead = { pooling: "mean", normalize: true };

/**
 * Programs of the edge engine: those that are accepted run, and must change no memory outside of their values and scratch. While it is
 * loaded, a file must change no memory outside of its own place.
 */
export const program: Target = {
  runs: { long: 1_000_000, short: 800 },
  refusals: ["model_invalid", "model_version", "memory_full"],
  async start() {
    const simd = await compiledKernels("simd");
    const encoders = await Promise.all(
      (Object.keys(tinyEncoders) as TinyEncoder[]).map((name) => tinyEdgeFile(name, true)),
    );
    const drawn = Array.from({ length: RANDOM_PROGRAMS }, (_, seed) => randomProgramFile(seed, 2 + (seed % 13)));
    const sound = [...encoders, ...drawn];
    const memory = new WebAssembly.Memory({ initial: pagesFor(MEMORY) });
    for (const file of sound) {
      const found = await run(simd, file, memory, 0);
      if (found !== "accepted") throw new Error(`A sound program is refused: ${found}`);
    }
    return (seed) => run(simd, damagedProgram(sound[seed % sound.length] as File, seed), memory, seed);
  },
};

/**
 * Loads a model file, of which a random part arrives first, and runs the same request twice. Before the first run, fills the
 * memory of the values and the scratch with the byte 0x00, and before the second run with 0x7f. If the result depends on
 * these bytes, the two runs give different results.
 *
 * @throws when memory outside the values and the scratch has changed, or when the second run gives another result
 */
async function run(simd: WebAssembly.Module, file: File, memory: WebAssembly.Memory, seed: number): Promise<string> {
  const bytes = Buffer.from(memory.buffer);
  bytes.fill(0xa5);
  const kernels = instantiate(simd, memory);
  try {
    const program = load(kernels, file, memory, seed);
    const session = createSession(memory, kernels, program, file.length);
    const segments = segmentsOf(program);
    const random = randomNumbers(1);
    const texts = [1, 3, 7].map((length) =>
      Int32Array.from({ length: Math.min(length, program.maxTokens) }, () => Math.floor(program.vocabulary * random())),
    );
    const pairs = program.pairs ? texts.map((ids) => ({ ids, secondFrom: Math.floor(ids.length / 2) })) : [];
    const sequences = [...texts, ...pairs];
    const total = totalLength(sequences.map(idsOf));
    // A new session has room for one full batch, and grows when a request needs more.
    const tokens = Math.max(total, Math.min(BATCH_TOKENS, program.maxTokens));
    const { regions } = roomFor({ kernels, program, segments }, program.fileBegins + file.length, tokens);
    if (regions.end >= MEMORY || memory.buffer.byteLength !== MEMORY) throw new Error("The memory is too small.");
    const before = Buffer.from(bytes);
    const { of, width } = program.values[program.output] as (typeof program.values)[number];
    const head = of === "token" && width % 4 === 0 ? HEAD : undefined;
    const outside = [
      [0, CALL],
      [KERNEL_DATA, regions.values],
      [regions.end, MEMORY],
    ] as const;
    const results: Buffer[] = [];
    for (const filling of [0x00, 0x7f]) {
      bytes.fill(filling, regions.values, regions.end);
      const found = await session.run(sequences, head);
      results.push(Buffer.concat(found.map(({ buffer }) => Buffer.from(buffer))));
      assertSame(before, bytes, outside);
    }
    const [first, second] = results as [Buffer, Buffer];
    if (Buffer.compare(first, second) !== 0) throw new Error("The second run gives another result.");
    return "accepted";
  } catch (error) {
    return refusalCode(error);
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
