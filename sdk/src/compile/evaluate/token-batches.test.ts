import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { type Shape, symbolicDim } from "../graph/dim.ts";
import { Graph } from "../graph/graph.ts";
import { numbersOf, type Tensor } from "../graph/tensor.ts";
import { type TokenBatch, tokenBatches } from "./token-batches.ts";

const MAX_TOKENS = 2048;

const graphOf = (names: readonly string[], dtype: "int64" | "int32" = "int64", shape?: Shape) => {
  const graph = new Graph("inputs");
  for (const name of names) graph.input(name, { dtype, shape });
  return graph;
};
const usual = ["input_ids", "attention_mask", "token_type_ids"];

const sequences = fc.array(
  fc.oneof(
    fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 40 }),
    fc.integer({ min: 1, max: 3000 }).map((length) => new Array<number>(length).fill(length)),
  ),
  { maxLength: 30 },
);
const tokens = (all: readonly number[][]) => all.map((ids) => Int32Array.from(ids));

/** Returns the rows of an input [sequences, width]. */
function rowsOf(batch: TokenBatch, name: string): number[][] {
  const value = batch.get(name) as Tensor;
  const [rows = 0, width = 0] = value.shape;
  const numbers = numbersOf(value);
  return Array.from({ length: rows }, (_, row) => numbers.slice(row * width, (row + 1) * width));
}
const lengthOf = (mask: readonly number[] | undefined) => mask?.reduce((sum, value) => sum + value, 0) ?? 0;
const key = (ids: readonly number[]) => ids.join();

describe("tokenBatches", () => {
  it.each(["int64", "int32"] as const)(
    "batches every sequence once, padded on the right and masked, as %s",
    (dtype) => {
      fc.assert(
        fc.property(sequences, (all) => {
          const batches = tokenBatches(graphOf(usual, dtype), tokens(all));
          const found = batches.flatMap((batch) => {
            expect([...batch.keys()]).toEqual(usual);
            expect([...batch.values()].every((value) => value.dtype === dtype)).toBe(true);
            expect(
              rowsOf(batch, "token_type_ids")
                .flat()
                .every((type) => type === 0),
            ).toBe(true);
            const masks = rowsOf(batch, "attention_mask");
            return rowsOf(batch, "input_ids").map((ids, row) => {
              const length = lengthOf(masks[row]);
              expect(masks[row]?.slice(0, length).every((value) => value === 1)).toBe(true);
              expect(ids.slice(length).every((id) => id === 0)).toBe(true);
              return ids.slice(0, length);
            });
          });
          expect(found.map(key).sort()).toEqual(all.map(key).sort());
        }),
        seeded(40),
      );
    },
  );

  it("fills every batch up to the token limit, and exceeds it only for a single long sequence", () => {
    fc.assert(
      fc.property(sequences, (all) => {
        const sizes = tokenBatches(graphOf(usual), tokens(all)).map(
          (batch) => batch.get("input_ids")?.shape as number[],
        );
        sizes.forEach(([rows = 0, width = 0], i) => {
          if (rows > 1) expect(rows * width).toBeLessThanOrEqual(MAX_TOKENS);
          const next = sizes[i + 1];
          if (next) expect(next[1]).toBeGreaterThanOrEqual(width);
        });
      }),
      seeded(40),
    );
    const short = Array.from({ length: 64 }, () => new Array<number>(32).fill(1));
    expect(tokenBatches(graphOf(usual), tokens(short))).toHaveLength(1);
  });

  it("gives tokens of the second text of a pair the token type 1", () => {
    const pairs = [
      { ids: Int32Array.of(1, 2, 3, 4), secondFrom: 2 },
      { ids: Int32Array.of(5, 6), secondFrom: 1 },
      Int32Array.of(7, 8, 9),
    ];
    const [batch, ...others] = tokenBatches(graphOf(usual), pairs);
    expect(others).toEqual([]);
    expect(usual.map((name) => rowsOf(batch as TokenBatch, name))).toEqual([
      [
        [5, 6, 0, 0],
        [7, 8, 9, 0],
        [1, 2, 3, 4],
      ],
      [
        [1, 1, 0, 0],
        [1, 1, 1, 0],
        [1, 1, 1, 1],
      ],
      [
        [0, 1, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 1, 1],
      ],
    ]);
  });

  it("knows TensorFlow's names of the inputs", () => {
    const names = ["input_ids:0", "input_mask:0", "segment_ids:0"];
    const pair = { ids: Int32Array.of(7, 8, 9), secondFrom: 1 };
    const [batch] = tokenBatches(graphOf(names), [pair]);
    expect(names.map((name) => rowsOf(batch as TokenBatch, name))).toEqual([[[7, 8, 9]], [[1, 1, 1]], [[0, 1, 1]]]);
  });

  it.each<[string, Shape, number[][][]]>([
    [
      "a length",
      [symbolicDim("texts"), 4],
      [
        [
          [3, 0, 0, 0],
          [5, 0, 0, 0],
          [1, 2, 0, 0],
        ],
      ],
    ],
    [
      "a number of texts",
      [2, symbolicDim("tokens")],
      [
        [[3], [5]],
        [
          [1, 2],
          [1, 2],
        ],
      ],
    ],
    [
      "both",
      [2, 4],
      [
        [
          [3, 0, 0, 0],
          [5, 0, 0, 0],
        ],
        [
          [1, 2, 0, 0],
          [1, 2, 0, 0],
        ],
      ],
    ],
  ])("fills batches of a graph that fixes %s", (_, shape, wanted) => {
    const batches = tokenBatches(graphOf(usual, "int64", shape), tokens([[1, 2], [3], [5]]));
    expect(batches.map((batch) => rowsOf(batch, "input_ids"))).toEqual(wanted);
    const masks = batches.map((batch) => rowsOf(batch, "attention_mask"));
    expect(masks).toEqual(wanted.map((rows) => rows.map((row) => row.map((id) => Math.min(id, 1)))));
  });

  it("gives an input with one size a number for each text", () => {
    const graph = graphOf(usual);
    graph.input("unique_ids_raw_output___9:0", { dtype: "int64", shape: [symbolicDim("texts")] });
    const [batch] = tokenBatches(graph, tokens([[1], [2, 3]]));
    expect(batch?.get("unique_ids_raw_output___9:0")).toMatchObject({ dtype: "int64", shape: [2] });
  });

  it("refuses to pad to a fixed length without an attention mask", () => {
    const graph = graphOf(["input_ids"], "int64", [1, 2]);
    expect(tokenBatches(graph, tokens([[1, 2]]))).toHaveLength(1);
    expect(refusal(() => tokenBatches(graph, tokens([[1]])))).toBe("calibration_invalid");
  });

  it("pads nothing if the graph has no attention mask", () => {
    const given = tokens([[1], [2, 3], [4], [5, 6], [7, 8, 9]]);
    const batches = tokenBatches(graphOf(["input_ids"]), given);
    expect(batches.map((batch) => rowsOf(batch, "input_ids"))).toEqual([
      [[1], [4]],
      [
        [2, 3],
        [5, 6],
      ],
      [[7, 8, 9]],
    ]);
  });

  it("refuses a model without an input named input_ids", () => {
    expect(refusal(() => tokenBatches(graphOf(["ids"]), []))).toBe("inputs_unknown");
  });
});
