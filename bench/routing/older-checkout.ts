import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtempDisposable, readdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** A checkout of an older version. */
export interface Checkout extends AsyncDisposable {
  readonly root: string;
}

/**
 * Returns the checkout in a folder, which has to be installed and built, or makes one of a commit: its files in a temporary folder,
 * with the packages that are installed here.
 */
export async function olderCheckout(folderOrCommit: string): Promise<Checkout> {
  if (existsSync(folderOrCommit)) return { root: resolve(folderOrCommit), [Symbol.asyncDispose]: async () => {} };
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await mkdtempDisposable(join(tmpdir(), "bert-edge-older-checkout-")));
  const root = folder.path;
  const archive = join(root, "checkout.tar");
  await execute("git", ["archive", "--output", archive, folderOrCommit]);
  await execute("tar", ["-xf", archive, "-C", root]);
  await linkPackages(process.cwd(), root, ["bert-edge", "create-bert-edge"]);
  await linkPackages(join(process.cwd(), "sdk"), join(root, "sdk"), []);
  await symlink("../sdk", join(root, "node_modules/bert-edge"));
  await execute("npm", ["run", "build"], { cwd: root });
  const made = stack.move();
  return { root, [Symbol.asyncDispose]: () => made.disposeAsync() };
}

/** Links the packages that a folder has installed into another one, except for some. */
async function linkPackages(from: string, to: string, except: readonly string[]): Promise<void> {
  const packages = await readdir(join(from, "node_modules"));
  await mkdir(join(to, "node_modules"));
  for (const name of packages.filter((name) => !except.includes(name)))
    await symlink(join(from, "node_modules", name), join(to, "node_modules", name));
}
