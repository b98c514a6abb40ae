import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCheckpoint } from "#test/fixtures/read-checkpoint.ts";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { type TinyFolderOptions, writeTinyCheckpoint } from "#test/fixtures/tiny-bert.ts";
import { toFloat32 } from "../graph/tensor.ts";
import { encoderWeights } from "./encoder-weights.ts";

async function tinyFolder(options?: TinyFolderOptions): Promise<string> {
  const folder = join(await temporaryFolder(), "model");
  await writeTinyCheckpoint(folder, options);
  return folder;
}

describe("readCheckpoint", () => {
  it("reads configuration, weights and tokenizer of a plain encoder", async () => {
    const tokenizer = { version: "1.0", model: { type: "WordPiece" } };
    const folder = await tinyFolder({
      files: { "tokenizer.json": JSON.stringify(tokenizer), "tokenizer_config.json": '{"do_lower_case":true}' },
    });
    const checkpoint = await readCheckpoint(folder);
    expect(checkpoint).toMatchObject({
      folder,
      config: { hiddenSize: 32, layers: 2, activation: "gelu" },
      tokenizer: { json: tokenizer, config: { do_lower_case: true } },
    });
    expect(checkpoint.weights.get("embeddings.LayerNorm.bias")).toMatchObject({ dtype: "float32", shape: [32] });
  });

  it("uses transformers' defaults for keys that old configurations lack", async () => {
    const folder = await tinyFolder();
    const { type_vocab_size, layer_norm_eps, ...config } = JSON.parse(await configOf(folder));
    await writeFile(join(folder, "config.json"), JSON.stringify(config));
    expect((await readCheckpoint(folder)).config).toMatchObject({
      tokenTypes: 2,
      layerNormEpsilon: 1e-12,
    });
  });

  it("reads weights that are not aligned in the file", async () => {
    for (const padding of ["", " ", "  ", "   "]) {
      const folder = await tinyFolder({ files: { "model.safetensors": undefined } });
      const tensors = { [`odd${padding}`]: float32Tensor([2], [1.5, -2]) };
      await writeFile(join(folder, "model.safetensors"), safetensorsFile(tensors));
      const { weights } = await readCheckpoint(folder);
      expect([...weights.values()].map((tensor) => [...toFloat32(tensor)])).toEqual([[1.5, -2]]);
    }
  });

  it.each(["config.json", "tokenizer.json", "model.safetensors"])(
    "says that %s is missing, and what to give",
    async (file) => {
      const folder = await tinyFolder({ files: { [file]: undefined } });
      await expect(readCheckpoint(folder)).rejects.toMatchObject({
        code: "checkpoint_missing",
        message: `${join(folder, file)} does not exist.`,
        hint: expect.stringContaining("save_pretrained"),
      });
    },
  );

  it("names the first missing file when the folder does not exist", async () => {
    const folder = join(await temporaryFolder(), "nowhere");
    await expect(readCheckpoint(folder)).rejects.toMatchObject({ code: "checkpoint_missing" });
  });

  it("says which file cannot be read", async () => {
    const folder = await tinyFolder({ files: { "model.safetensors": undefined } });
    await mkdir(join(folder, "model.safetensors"));
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: `${join(folder, "model.safetensors")} cannot be read.`,
    });
    await expect(readCheckpoint(join(folder, "config.json"))).rejects.toMatchObject({
      message: `${join(folder, "config.json")} is a file, not a model folder.`,
      code: "checkpoint_invalid",
    });
  });

  it.each([
    ["another architecture", { model_type: "t5" }, "only these families are supported so far"],
    ["another activation", { hidden_act: "prelu" }, "the activation must be one of gelu, gelu_new"],
    ["relative positions", { position_embedding_type: "relative_key" }, "only absolute position embeddings"],
    ["a decoder", { is_decoder: true }, "decoders (causal attention) are not encoders"],
  ])("says that %s is not supported, and which key of config.json it is about", async (_, change, message) => {
    const folder = await tinyFolder();
    const config = JSON.parse(await configOf(folder)) as object;
    await writeFile(join(folder, "config.json"), JSON.stringify({ ...config, ...change }));
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: "checkpoint_unsupported",
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ["heads that do not divide the width", { num_attention_heads: 5 }, "hidden_size must be a multiple of"],
    ["positions for special tokens only", { max_position_embeddings: 2 }, "room for [CLS], one token and [SEP]"],
    ["no layers", { num_hidden_layers: 0 }, "num_hidden_layers"],
    ["a width that is no number", { hidden_size: "32" }, "hidden_size"],
    ["more layers than a list can have", { num_hidden_layers: 1e10 }, "num_hidden_layers"],
  ])("refuses %s, and says which key of config.json it is about", async (_, change, message) => {
    const folder = await tinyFolder();
    const config = JSON.parse(await configOf(folder)) as object;
    await writeFile(join(folder, "config.json"), JSON.stringify({ ...config, ...change }));
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: "checkpoint_invalid",
      message: expect.stringContaining(message),
    });
  });

  it("accepts any config.json or refuses it as invalid or unsupported", async () => {
    const folder = await tinyFolder();
    const config = JSON.parse(await configOf(folder)) as Record<string, unknown>;
    const value = fc.oneof(fc.jsonValue(), fc.nat(64), fc.constantFrom(1e9, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, -1, 0.5));
    const changed = fc
      .dictionary(fc.constantFrom(...Object.keys(config)), value, { minKeys: 1, maxKeys: 3 })
      .map((change) => JSON.stringify({ ...config, ...change }));
    const codes = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: changed }, fc.json(), fc.string()), async (text) => {
        await writeFile(join(folder, "config.json"), text);
        const code = await refusalOf(readCheckpoint(folder).then(encoderWeights));
        codes.add(code);
        expect(["accepted", "checkpoint_invalid", "checkpoint_unsupported"]).toContain(code);
      }),
      seeded(300),
    );
    expect(codes.size).toBe(3);
  });
});

const configOf = (folder: string) => readFile(join(folder, "config.json"), "utf8");
