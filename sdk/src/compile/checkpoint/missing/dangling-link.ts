import { existsSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import { entriesOf } from "../../files/only-files.ts";

/** Names of files that are read. A file that is not there could otherwise count as one that the model does not have. */
const READ = /\.(json|safetensors|bin|metadata|onnx|onnx_data|data)$/;

/**
 * Refuses a model folder with a link to a file that does not exist, as in a copy of the Hub's cache without its blobs.
 *
 * @throws BertEdgeError `checkpoint_missing`
 */
export function assertNoDanglingLink(root: string): void {
  const below = entriesOf(root).filter((entry) => entry.isDirectory());
  for (const folder of [root, ...below.map(({ name }) => join(root, name))]) {
    const links = entriesOf(folder).filter((entry) => entry.isSymbolicLink() && READ.test(entry.name));
    const dangling = links.map(({ name }) => join(folder, name)).find((path) => !existsSync(path));
    if (dangling === undefined) continue;
    throw new BertEdgeError(
      "checkpoint_missing",
      `${dangling} is a link to ${readlinkSync(dangling)}, which does not exist.`,
      { hint: "Download the model again, or copy its folder with the files that its links lead to: `cp -rL`." },
    );
  }
}
