import type { Instead } from "./instead.ts";

/** Weights of other tools, by the ends of their names. */
const others: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/\.h5$/, "TensorFlow"],
  [/\.ckpt(\.\w[\w-]*)?$/, "TensorFlow"],
  [/\.msgpack$/, "Flax"],
  [/\.ot$/, "Rust"],
  [/\.gguf$/, "llama.cpp"],
  [/^openvino_.*\.(xml|bin)$/, "OpenVINO"],
];

/** Finds weights under other names and of other tools. */
export function weightsInstead(names: readonly string[]): Instead | undefined {
  const renamed = names.find((name) => name.endsWith(".safetensors") && !/^adapter_|-of-\d+\.safetensors$/.test(name));
  if (renamed !== undefined) {
    return {
      but: `${renamed} does`,
      hint: `If it has the weights of this model, rename it to model.safetensors.`,
    };
  }
  const ofTools = names.flatMap((name) => {
    const [, tool] = others.find(([pattern]) => pattern.test(name)) ?? [];
    return tool === undefined ? [] : [`${name} (${tool})`];
  });
  if (ofTools.length > 0) {
    return {
      but: `${ofTools.join(", ")} does`,
      hint: "These weights cannot be read. Save the model as safetensors with the tool that wrote them, or take a model that has model.safetensors.",
    };
  }
  return undefined;
}
