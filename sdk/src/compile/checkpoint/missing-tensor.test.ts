import { describe, expect, it } from "vitest";
import { folderWith } from "#test/fixtures/folder-with.ts";
import { missingTensor } from "./missing-tensor.ts";

const WANTED = "embeddings.word_embeddings.weight";
const bert = [WANTED, "embeddings.LayerNorm.weight", "encoder.layer.0.attention.self.query.weight"];
const headed = [...bert.map((name) => `bert.${name}`), "classifier.weight"];

const found = (names: readonly string[], folder = "model") => missingTensor(folder, WANTED, [50, 32], names);

describe("the error for a missing tensor", () => {
  it.each([
    ["model.", bert],
    ["module.", bert],
    ["0.auto_model.", bert],
    ["base_model.model.", bert],
    ["_orig_mod.", headed],
  ])("names the prefix %s of a wrapper", (prefix, names) => {
    const { code, message, hint } = found(names.map((name) => prefix + name));
    expect(code).toBe("checkpoint_invalid");
    expect(message).toMatch(/^model has no tensor embeddings\S+ of shape \[50,32\], but it has \S+: a wrapper has put/);
    expect(message).toContain(`has put ${prefix} before the names.`);
    expect(hint).toContain("Save the model that is inside of the wrapper");
  });

  it("names the whole prefix if only the encoder is wrapped", () => {
    expect(found([...bert.map((name) => `net.body.${name}`), "classifier.weight"]).message).toContain(
      "put net.body. before",
    );
  });

  it("has the command that renames the tensors of a file", async () => {
    const folder = await folderWith({ "model.safetensors": "" });
    const { hint } = found(
      bert.map((name) => `module.${name}`),
      folder,
    );
    expect(hint?.split("\n    ")[1]).toBe(
      "python3 -c 'import os; from safetensors.torch import load_file, save_file; " +
        `p = "${folder}/model.safetensors"; ` +
        'save_file({k.removeprefix("module."): v for k, v in load_file(p).items()}, p + ".new", {"format": "pt"}); ' +
        `os.replace(p + ".new", p)'`,
    );
    const pickled = await folderWith({ "pytorch_model.bin": "" });
    const error = found(
      bert.map((name) => `module.${name}`),
      pickled,
    );
    expect(error.hint).toContain(`torch.load("${pickled}/pytorch_model.bin", weights_only=True)`);
    expect(error.hint).toContain(`"${pickled}/model.safetensors")'`);
  });

  it("names an adapter that is not merged", () => {
    const query = "base_model.model.encoder.layer.0.attention.self.query";
    const { message, hint } = found([
      `base_model.model.${WANTED}`,
      `${query}.base_layer.weight`,
      `${query}.lora_A.default.weight`,
    ]);
    expect(message).toContain(`have an adapter that is not merged, such as ${query}.base_layer.weight`);
    expect(hint).toContain("merge_and_unload()");
  });

  it("lists some of the tensors of another model", () => {
    expect(found(["a", "b", "c", "d"])).toMatchObject({
      message: "model has no tensor embeddings.word_embeddings.weight of shape [50,32].",
      hint: expect.stringContaining("First tensors of the checkpoint: a, b, c."),
    });
  });
});
