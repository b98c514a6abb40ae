import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";

/**
 * Returns the folder of a project's only model. Projects that `create-bert-edge` makes come with one.
 *
 * @throws BertEdgeError `checkpoint_missing` when there is no model, or more than one
 */
export function projectModel(root: string): string {
  const models = existsSync(join(root, "models")) ? readdirSync(join(root, "models")) : [];
  const [only, ...others] = models.map((name) => join("models", name));
  if (only !== undefined && others.length === 0) return only;
  const found =
    only === undefined ? "has no models/ with a model" : `has several models: ${[only, ...others].join(", ")}`;
  throw new BertEdgeError("checkpoint_missing", `The folder ${root} ${found}.`, {
    hint: "Name the artifact's folder with --model. `bert-edge prepare` makes an artifact.",
  });
}
