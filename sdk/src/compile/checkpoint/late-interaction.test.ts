import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { lateInteraction } from "./late-interaction.ts";

const HIDDEN = 8;
const identity = "torch.nn.modules.linear.Identity";
const linear = { in_features: HIDDEN, out_features: 4, bias: false, activation_function: identity };

/** Reads the projections of a folder with Dense modules. */
async function projectionsOf(...configs: (object | undefined)[]) {
  const folder = await temporaryFolder();
  const paths = configs.map((_, i) => `${i + 1}_Dense`);
  const modules = [
    { path: "", type: "sentence_transformers.models.Transformer" },
    ...paths.map((path) => ({ path, type: "pylate.models.Dense.Dense" })),
  ];
  await writeFile(join(folder, "modules.json"), JSON.stringify(modules));
  for (const [i, config] of configs.entries()) {
    if (!config) continue;
    await mkdir(join(folder, paths[i] as string));
    await writeFile(join(folder, paths[i] as string, "config.json"), JSON.stringify(config));
  }
  return lateInteraction(folder, folder, HIDDEN);
}

describe("Dense modules", () => {
  it("are projections, in the order of modules.json", async () => {
    const first = { ...linear, out_features: 6, bias: true, activation_function: "torch.nn.modules.activation.Tanh" };
    const { head, outputs, modules } = await projectionsOf(first, { ...linear, in_features: 6 });
    expect(head.projections).toEqual([
      { name: "1_Dense/linear", inputs: 8, outputs: 6, hasBias: true, activation: "tanh", residual: undefined },
      { name: "2_Dense/linear", inputs: 6, outputs: 4, hasBias: false, activation: undefined, residual: undefined },
    ]);
    expect({ outputs, modules }).toEqual({ outputs: 4, modules: ["1_Dense", "2_Dense"] });
  });

  it("add their input, or a product of it if they change its width", async () => {
    const residualOf = async (config: object) => (await projectionsOf(config)).head.projections?.[0]?.residual;
    expect(await residualOf({ ...linear, use_residual: true })).toEqual({ name: "1_Dense/residual" });
    expect(await residualOf({ ...linear, out_features: HIDDEN, use_residual: true })).toBe("x");
    expect(await residualOf({ ...linear, use_residual: false })).toBeUndefined();
    expect(await residualOf({ ...linear, use_residual: null, bias: null })).toBeUndefined();
  });

  it.each([
    ["torch.nn.Identity", undefined],
    ["torch.nn.modules.activation.GELU", "gelu"],
    ["torch.nn.modules.activation.ReLU", "relu"],
    ["torch.nn.modules.activation.SiLU", "silu"],
  ])("have the activation %s", async (activation_function, expected) => {
    const { head } = await projectionsOf({ ...linear, activation_function });
    expect(head.projections?.[0]?.activation).toBe(expected);
  });

  it.each<[string, object, string, string]>([
    ["another activation", { activation_function: "torch.nn.modules.activation.Softplus" }, "unsupported", "Softplus"],
    ["code of their own", { activation_function: "custom.GELU" }, "unsupported", "custom.GELU"],
    ["no activation", { activation_function: undefined }, "unsupported", "no activation_function"],
    ["another width", { in_features: 7 }, "invalid", "reads 7 numbers, but gets 8"],
  ])("are refused with %s", async (_, changes, code, message) => {
    await expect(projectionsOf({ ...linear, ...changes })).rejects.toMatchObject({
      code: `checkpoint_${code}`,
      message: expect.stringContaining(message),
    });
  });

  it("are refused without their configuration", async () => {
    await expect(projectionsOf(undefined)).rejects.toMatchObject({ code: "checkpoint_missing" });
  });
});
