import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { readJson } from "../../files/json-file.ts";
import { Count } from "../config-keys.ts";
import type { DenseLayer } from "../head-formula.ts";
import type { Module } from "./module-list.ts";

const DenseConfig = v.looseObject({
  in_features: Count,
  out_features: Count,
  /** Python takes null for false. */
  bias: v.optional(v.nullable(v.boolean()), true),
  activation_function: v.optional(v.string()),
  use_residual: v.nullish(v.boolean(), false),
});

/** Activations by the last part of their class's name in torch. Their arguments have the default values. */
const activations: Readonly<Record<string, DenseLayer["activation"]>> = {
  Identity: undefined,
  Tanh: "tanh",
  GELU: "gelu",
  ReLU: "relu",
  SiLU: "silu",
};

/** Name of the linear layer in a Dense module's file. */
const LINEAR = "linear";

/**
 * Reads a Dense module, which projects the vectors of tokens.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function readDense(folder: string, module: Module): Promise<DenseLayer> {
  const file = join(folder, module.path, "config.json");
  const config = await readJson(folder, join(module.path, "config.json"), DenseConfig);
  if (!config) {
    throw new BertEdgeError("checkpoint_missing", `${file} does not exist.`, {
      hint: "Copy the whole model folder, with its subfolders such as 1_Dense.",
    });
  }
  const { in_features: inputs, out_features: outputs, bias, use_residual: hasResidual } = config;
  const name = `${module.path}/${LINEAR}`;
  return {
    ...{ name, inputs, outputs, hasBias: bias ?? false },
    activation: activationOf(file, config.activation_function),
    residual: !hasResidual ? undefined : inputs === outputs ? "x" : { name: `${module.path}/residual` },
  };
}

/** @param name name of a class, such as `torch.nn.modules.activation.Tanh` */
function activationOf(file: string, name: string | undefined): DenseLayer["activation"] {
  const [, found = ""] = /^torch\.nn\.(?:[a-z]+\.)*([A-Za-z]+)$/.exec(name ?? "") ?? [];
  if (Object.hasOwn(activations, found)) return activations[found];
  throw new BertEdgeError(
    "checkpoint_unsupported",
    name === undefined
      ? `${file} has no activation_function.`
      : `${file}: the activation_function ${name} is not supported so far.`,
    {
      hint: `Supported: ${Object.keys(activations)
        .map((each) => `torch.nn.${each}`)
        .join(", ")}. Without an activation, it is torch.nn.Identity.`,
    },
  );
}
