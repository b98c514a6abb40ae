import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { pagedFile } from "#test/fixtures/paged-file.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { randomSequences, TINY_EDGE } from "#test/fixtures/tiny-edge-file.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { headerEnd } from "../../../../artifact/safetensors.ts";
import { engineOnThisMachine } from "../../../../local/engines.ts";
import { oneModel } from "../../engine.ts";
import { wasmPoolEngine } from "../../wasm-pool/node/index.ts";
import { readModelFile } from "../load/model-file.ts";

const engine = await engineOnThisMachine("wasm");
const graphOf = ({ config, weights }: ReturnType<typeof tinyBert>) => fusedGraph(config, weights);
const bert = await graphOf(tinyBert());

/** A model whose table is whole, and the same in pages. */
async function both(tableBits: 8 | 4, resident: number, fused = bert) {
  const { file, pages, whole: wholeFile } = await pagedFile(fused, TINY_EDGE, { tableBits, resident });
  const ranges: (readonly [number, number])[] = [];
  const files = oneModel(file, pages);
  const source = {
    ...files,
    readPages: async (target: "edge", begin: number, end: number) => {
      ranges.push([begin, end]);
      return files.readPages(target, begin, end);
    },
  };
  const whole = await engine.load(oneModel(wholeFile));
  return { whole, inPages: await engine.load(source), source, ranges };
}

describe("a table in pages", () => {
  it.each([
    [8, 4],
    [4, 20],
    [4, 1],
    [8, 49],
  ] as const)("gives the same bits as the whole table, in %i bits with %i rows in memory", async (bits, resident) => {
    const { whole, inPages, ranges } = await both(bits, resident);
    const sequences = randomSequences(TINY_EDGE);
    expect(await inPages.run(sequences)).toEqual(await whole.run(sequences));
    expect(ranges.length).toBeGreaterThan(0);
    const all = await Promise.all(sequences.map(async (sequence) => inPages.run([sequence])));
    expect(all.flat()).toEqual(await whole.run(sequences));
  });

  it("leaves the positions of a model that does not count padding tokens as they are", async () => {
    const paddings = { model_type: "roberta", pad_token_id: 3, max_position_embeddings: TINY_EDGE.maxTokens + 4 };
    // Token 41 has row 0, and token 3 row 1. Token 0 has row 4.
    const sequences = [Int32Array.of(41, 3, 17, 8), Int32Array.of(0, 1, 2, 3, 4), ...randomSequences(TINY_EDGE)];
    const { whole, inPages } = await both(4, 20, await graphOf(tinyBert({ config: paddings })));
    expect(await inPages.run(sequences)).toEqual(await whole.run(sequences));
  });

  it("is in a model that is refused for NaN, although its pages are read before its layers", async () => {
    const { file, pages } = await pagedFile(bert, TINY_EDGE, { tableBits: 4, resident: 20 });
    const { program, tensor } = readModelFile(file);
    const norm = program.steps.find((step) => step.op === "layerNorm") ?? expect.unreachable();
    new DataView(file.buffer).setFloat32(tensor(norm.gamma), Number.NaN, true);
    const session = await engine.load(oneModel(file, pages));
    const refusal = expect.objectContaining({ code: "model_invalid", message: expect.stringContaining("NaN") });
    await expect(session.run(randomSequences(TINY_EDGE))).rejects.toEqual(refusal);
    await expect(session.ready?.(randomSequences(TINY_EDGE))).rejects.toEqual(refusal);
    await expect(session.complete).rejects.toEqual(refusal);
    const pool = wasmPoolEngine({ simd: await compiledKernels("simd"), threads: 2 });
    await expect(pool.load(oneModel(file, pages))).rejects.toEqual(refusal);
  });

  it("is read whole by the engine with threads", async () => {
    const { whole, source, ranges } = await both(4, 20);
    const pool = await wasmPoolEngine({ simd: await compiledKernels("simd"), threads: 2 }).load(source);
    onTestFinished(() => pool.release());
    const sequences = randomSequences(TINY_EDGE);
    expect(await pool.run(sequences)).toEqual(await whole.run(sequences));
    expect(ranges).toHaveLength(1);
  });

  it("is read while the layers arrive", async () => {
    const { whole, source, ranges } = await both(4, 20);
    const [size, all] = [source.size("edge"), await source.read("edge")];
    const [sequence] = randomSequences(TINY_EDGE) as [Int32Array<ArrayBuffer>];
    ranges.length = 0;
    const rest = Promise.withResolvers<void>();
    const early = await engine.load({
      ...source,
      async readInto(_, { bytes, checked }) {
        const end = headerEnd(all, Error);
        bytes().set(all.subarray(0, end));
        checked?.(end, end);
        await rest.promise;
        bytes().set(all);
        checked?.(size, size);
      },
    });
    const answer = early.run([sequence]);
    expect(early.pageReads?.([sequence])).toBeGreaterThan(0);
    const ready = early.ready?.([sequence]);
    await vi.waitFor(() => expect(ranges.length).toBeGreaterThan(0));
    rest.resolve();
    await ready;
    expect(early.pageReads?.([sequence])).toBe(0);
    expect(await answer).toEqual(await whole.run([sequence]));
  });

  it("is waited for up to the last row of the file that a text needs, in the order of frequency", async () => {
    const { source } = await both(4, 20);
    const [size, all] = [source.size("edge"), await source.read("edge")];
    const rest = Promise.withResolvers<void>();
    const early = await engine.load({
      ...source,
      async readInto(_, { bytes, checked, turn }) {
        bytes().set(all);
        // All but the last ten rows, which are 32 / 2 + 32 / 32 bytes long.
        checked?.(size - 10 * 17, size);
        await rest.promise;
        await turn?.();
        checked?.(size, size);
      },
    });
    // Token 41 has row 0, and token 10 row 11.
    expect(await early.run([Int32Array.of(41, 3)])).toHaveLength(1);
    let hasWaited = false;
    const later = early.run([Int32Array.of(10)]).then(() => hasWaited);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    hasWaited = true;
    rest.resolve();
    expect(await later).toBe(true);
  });
});
