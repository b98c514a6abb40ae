import { describe, expect, it } from "vitest";
import { tinyEncoders } from "#test/fixtures/tiny-edge-file.ts";
import { catalogueModel } from "../checkpoint/hub/catalogue.ts";
import type { EncoderShape } from "../lower/outline-encoder.ts";
import { bestForm, estimatedForm, estimatedForms, shapeOfConfig, shapeOfModel } from "./edge-forms.ts";

const model = (name: string) => shapeOfModel(catalogueModel(name) ?? expect.unreachable());
const miniLm = model("all-minilm-l6-v2");

/** Bytes of the tokenizer of all-MiniLM-L6-v2, as estimated. */
const TOKENIZER = 305_220;
/** What `prepare` wrote for all-MiniLM-L6-v2, and the memory of its session with a text of 256 tokens. */
const prepared = [
  { tableBits: 8, weightBits: 8, fileBytes: 23_326_120, peak: 26_542_080 },
  { tableBits: 4, weightBits: 8, fileBytes: 17_832_160, peak: 21_102_592 },
  { tableBits: 4, weightBits: 4, fileBytes: 13_519_264, peak: 21_037_056 },
  { tableBits: 4, weightBits: 4, maxMemory: 11e6, fileBytes: 10_718_464, peak: 14_680_064, pageBytes: 2_826_720 },
] as const;

describe("estimatedForm", () => {
  it.each(prepared)("is within 0.5 % of all-MiniLM-L6-v2 with %o", async ({ fileBytes, peak, ...given }) => {
    const { maxMemory, pageBytes, ...form } = { maxMemory: undefined, pageBytes: undefined, ...given };
    const found = await estimatedForm(miniLm, form, maxMemory);
    expect(Math.abs(found.fileBytes / fileBytes - 1)).toBeLessThan(0.005);
    expect(Math.abs((found.memoryBytes - TOKENIZER) / peak - 1)).toBeLessThan(0.005);
    expect(found.pages === undefined).toBe(pageBytes === undefined);
    expect(Math.abs((found.pages?.bytes ?? 0) - (pageBytes ?? 0))).toBeLessThan(0.005 * fileBytes);
    expect(found.fits).toBe(true);
  });

  it("waits for fewer bytes than the file has, and for all of them if the table is in pages", async () => {
    const whole = await estimatedForm(miniLm, { tableBits: 8, weightBits: 8 });
    expect(whole.startBytes).toBeLessThan(0.8 * whole.fileBytes);
    const paged = await estimatedForm(miniLm, { tableBits: 4, weightBits: 4 }, 11e6);
    expect(paged.startBytes).toBe(paged.fileBytes + TOKENIZER);
    expect(paged).toMatchObject({ kept: "pages", expanded: "each call" });
  });

  it("takes about as long as docs/engine.md says of the same machine", async () => {
    const { ms } = await estimatedForm(miniLm, { tableBits: 8, weightBits: 8 });
    expect([Math.abs(ms[16] / 1.66 - 1), Math.abs(ms[128] / 13.7 - 1)].every((error) => error < 0.07)).toBe(true);
    const base = await estimatedForm(model("bge-base-en-v1.5"), { tableBits: 4, weightBits: 8 });
    expect(Math.abs(base.ms[128] / 100 - 1)).toBeLessThan(0.07);
  });

  it("finds the longest text, and does not fit if no batch does", async () => {
    const form = { tableBits: 4, weightBits: 4 } as const;
    const long = await estimatedForm(model("gte-multilingual-base"), form);
    expect(long).toMatchObject({ fits: true, kept: "pages" });
    expect(long.memoryBytes).toBeGreaterThan(2 ** 27);
    expect(long.longestText % 128).toBe(0);
    expect(await estimatedForm({ ...model("gte-multilingual-base"), maxTokens: long.longestText }, form)).toMatchObject(
      {
        longestText: long.longestText,
      },
    );
    const large = await estimatedForm(model("bge-m3"), form);
    expect(large).toMatchObject({ fits: false, kept: "none", longestText: 0 });
  });

  it.each(Object.entries(tinyEncoders))(
    "outlines a program of the family %s that the engine accepts",
    async (_, make) => {
      const shape = shapeOfConfig(make().config, { maxTokens: 16, pairs: false });
      for (const weightBits of [8, 4] as const) {
        expect(await estimatedForm(shape, { tableBits: 8, weightBits })).toMatchObject({ fits: true, longestText: 16 });
      }
    },
  );

  it("estimates encoders that the engine cannot run", async () => {
    const odd = { ...miniLm, hidden: 330, heads: 11, feedForward: 777, embedding: 50, positions: { buckets: 9 } };
    const found = await estimatedForms(odd);
    expect(found.map(({ kept, longestText }) => [kept, longestText])).toEqual(Array(3).fill(["whole", 256]));
  });

  it("counts position keys and queries, biases, angles, and layers that share their weights", async () => {
    const bytesOf = async (changes: Partial<EncoderShape>) =>
      (await estimatedForm({ ...miniLm, ...changes }, { tableBits: 8, weightBits: 8 })).fileBytes;
    const none = await bytesOf({ positions: "rotary", maxTokens: 1 });
    const { hidden, layers, heads } = miniLm;
    const about = (wanted: number) => ({ asymmetricMatch: (found: number) => Math.abs(found - wanted) < 60_000 });
    expect((await bytesOf({ positions: "table" })) - none).toEqual(about(4 * hidden * 256));
    expect((await bytesOf({ positions: "distances" })) - none).toEqual(about(4 * heads * 511));
    expect((await bytesOf({ positions: { buckets: 512 } })) - none).toEqual(
      about(2 * layers * 512 * (hidden + 12 * heads)),
    );
    expect(await bytesOf({ groups: 1 })).toBeLessThan(0.65 * (await bytesOf({})));
    expect((await bytesOf({ gated: true })) - (await bytesOf({}))).toEqual(about(layers * (hidden + 16) * 4 * hidden));
  });
});

describe("bestForm", () => {
  const best = async (name: string) => {
    const found = bestForm(await estimatedForms(model(name)));
    return found && [found.options, found.kept];
  };

  it.each([
    ["all-minilm-l6-v2", ["", "whole"]],
    ["granite-embedding-107m-multilingual", ["--table int4", "whole"]],
    ["bge-base-en-v1.5", ["--table int4", "pages"]],
    ["roberta-base-squad2", ["--table int4 --weights int4", "whole"]],
    ["multilingual-e5-base", ["--table int4 --weights int4", "pages"]],
    ["gte-multilingual-base", ["--table int4 --weights int4", "pages"]],
    ["bge-large-en-v1.5", undefined],
    ["bge-m3", undefined],
  ])("%s: %j", async (name, wanted) => {
    expect(await best(name)).toEqual(wanted);
  });
});
