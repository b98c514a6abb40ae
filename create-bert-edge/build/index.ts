// Builds the package: npm run build -w create-bert-edge. Needs the SDK's kernels: npm run build
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepare } from "../../sdk/src/compile/commands/prepare.ts";
import { writePackageFolder } from "./package-folder.ts";

const model = join(import.meta.dirname, "../../models/default");
const folder = mkdtempSync(join(tmpdir(), "create-bert-edge-"));
try {
  const edge = join(folder, "edge");
  const withRegion = join(folder, "edge+region");
  await prepare({ model, out: edge, name: "bert-edge-mini", targets: ["edge"] });
  await prepare({ model, out: withRegion, name: "bert-edge-mini", targets: ["edge", "regional-cpu"] });
  await writePackageFolder(join(import.meta.dirname, "../dist"), { edge, "edge+region": withRegion });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
