import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onInterrupt } from "../compile/files/on-interrupt.ts";

export interface DisposableFolder extends Disposable {
  readonly path: string;
}

/**
 * Makes an empty folder that only this user can read. The folder is removed when it is disposed, and at the latest when
 * the process exits or a signal interrupts it.
 */
export function disposableFolder(purpose: string): DisposableFolder {
  const path = mkdtempSync(join(tmpdir(), `bert-edge-${purpose}-`));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove);
  const cancel = onInterrupt(remove);
  return {
    path,
    [Symbol.dispose]() {
      process.off("exit", remove);
      cancel();
      remove();
    },
  };
}
