import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files of `npm run test:all` that take longest, 24 to 78 seconds. If one of them came last, the other processes would do
 * nothing meanwhile. vitest knows how long a file takes only after a run, and a new checkout has none.
 */
const LONGEST = [
  "sdk/src/compile/accuracy/sabotage.long.test.ts",
  "test/e2e/dev.long.test.ts",
  "test/fuzz/fuzz.long.test.ts",
  "test/e2e/stack.long.test.ts",
  "test/runtimes/runtimes.long.test.ts",
  "test/attacks/damaged-version.long.test.ts",
  "test/scaffold/project.long.test.ts",
  "test/tokenizer/rust-ids.long.test.ts",
  "test/deploy.long.test.ts",
  "test/faults/faults.long.test.ts",
  "sdk/src/compile/commands/prepare-task.long.test.ts",
  "sdk/src/compile/commands/prepare.long.test.ts",
  "test/e2e/container.long.test.ts",
  "test/e2e/bulk.long.test.ts",
  "test/e2e/open-routes.long.test.ts",
  "test/e2e/r2.long.test.ts",
];

/** Starts the longest files of each project first, and the others in vitest's own order. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longest = LONGEST.map((file) => join(this.ctx.config.root, file));
    const missing = longest.filter((path) => !existsSync(path));
    if (missing.length > 0) throw new Error(`test/longest-first.ts lists files that do not exist: ${missing}`);
    const place = ({ moduleId }: TestSpecification) => {
      const at = longest.indexOf(moduleId);
      return at < 0 ? longest.length : at;
    };
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name).values();
    return [...projects].flatMap((each) => each.sort((a, b) => place(a) - place(b)));
  }
}
