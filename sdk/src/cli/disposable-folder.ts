import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface DisposableFolder extends Disposable {
  readonly path: string;
}

/**
 * Makes an empty folder that only this user can read. The folder is removed when it is disposed, and at the latest when
 * the process exits.
 */
export function disposableFolder(purpose: string): DisposableFolder {
  const path = mkdtempSync(join(tmpdir(), `bert-edge-${purpose}-`));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove);
  return {
    path,
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
    },
  };
}
