import { beforeAll, expect, it } from "vitest";
import { damagedProgram } from "#test/fixtures/damaged-program.ts";
import { randomProgramFile } from "#test/fixtures/random-program/file.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type TinyEncoder, tinyEdgeFile, tinyEncoders } from "#test/fixtures/tiny-edge-file.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { BertEdgeError } from "../../../../artifact/error.ts";
import { totalLength } from "../../../../artifact/total-length.ts";
import type { VectorHead } from "../../engine.ts";
import { idsOf } from "../../token-sequence.ts";
import { CALL, KERNEL_DATA, MODEL } from "../constants/memory.ts";
import { instantiate } from "../run/kernels.ts";
import { pagesFor } from "../run/memory-map.ts";
import { roomFor } from "../run/room.ts";
import { segmentsOf } from "../run/segments.ts";
import { BATCH_TOKENS, createSession } from "../run/session.ts";
import { readModelFile } from "./model-file.ts";
import { parseProgram } from "./parse-program.ts";

type File = Uint8Array<ArrayBuffer>;

/** Number of damaged programs to try. `npm run fuzz:program` tries 200,000. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 3000);
const TIMEOUT_MS = 60_000 + 20 * RUNS;
const RANDOM_PROGRAMS = 40;
const MEMORY = 2 ** 22;
const HEAD: VectorHead = { pooling: "mean", normalize: true };

let simd: WebAssembly.Module;
let sound: File[];
beforeAll(async () => {
  simd = await compiledKernels("simd");
  const encoders = await Promise.all(
    (Object.keys(tinyEncoders) as TinyEncoder[]).map((name) => tinyEdgeFile(name, true)),
  );
  const drawn = Array.from({ length: RANDOM_PROGRAMS }, (_, seed) => randomProgramFile(seed, 2 + (seed % 13)));
  sound = [...encoders, ...drawn];
});

/**
 * Loads a model file and runs the same request twice. Before the first run, fills the memory of the values and the
 * scratch with the byte 0x00, and before the second run with 0x7f. If the result depends on these bytes, the two runs
 * give different results.
 *
 * @returns "refused" or "computed"
 * @throws when memory outside the values and the scratch has changed, or when the second run gives another result
 */
async function outcomeOf(file: File, memory: WebAssembly.Memory): Promise<"refused" | "computed"> {
  const bytes = Buffer.from(memory.buffer);
  bytes.fill(0xa5);
  const kernels = instantiate(simd, memory);
  bytes.set(file, MODEL);
  try {
    const program = parseProgram(readModelFile(new Uint8Array(memory.buffer, MODEL, file.length)));
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
    const { regions } = roomFor({ kernels, program, segments }, file.length, tokens);
    expect(regions.end).toBeLessThan(MEMORY);
    expect(memory.buffer.byteLength).toBe(MEMORY);
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
      for (const [from, to] of outside) {
        expect(Buffer.compare(bytes.subarray(from, to), before.subarray(from, to))).toBe(0);
      }
    }
    const [first, second] = results as [Buffer, Buffer];
    expect(Buffer.compare(first, second)).toBe(0);
    return "computed";
  } catch (error) {
    if (!(error instanceof BertEdgeError)) throw error;
    expect(["model_invalid", "model_version"]).toContain(error.code);
    return "refused";
  }
}

it("refuses a damaged program, or runs it twice with the same result and without changing other memory", {
  timeout: TIMEOUT_MS,
}, async () => {
  const memory = new WebAssembly.Memory({ initial: pagesFor(MEMORY) });
  const outcomes = { refused: 0, computed: 0 };
  for (let seed = 0; seed < RUNS; seed++) {
    try {
      outcomes[await outcomeOf(damagedProgram(sound[seed % sound.length] as File, seed), memory)]++;
    } catch (cause) {
      throw new Error(`The damaged program of seed ${seed} did harm.`, { cause });
    }
  }
  for (const file of sound) expect(await outcomeOf(file, memory)).toBe("computed");
  expect(outcomes.computed).toBeGreaterThan(RUNS / 20);
  expect(outcomes.refused).toBeGreaterThan(RUNS / 3);
  console.info(`${RUNS} damaged programs: ${outcomes.refused} refused, ${outcomes.computed} computed`);
});
