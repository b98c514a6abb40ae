import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a temporary folder, which is removed when the process or the thread ends. */
export function workFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bert-edge-fuzz-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
