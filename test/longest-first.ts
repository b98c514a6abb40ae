import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files of `npm run test:all` that take longest, in seconds if nothing else runs: 20 to 50. If one of them came last, one of the two
 * processes would do nothing meanwhile. vitest knows how long a file takes only after a run, and a new checkout has none.
 */
const LONGEST = [
  "test/e2e/dev.long.test.ts",
  "sdk/src/compile/accuracy/sabotage.long.test.ts",
  "test/tokenizer/rust-ids.long.test.ts",
  "test/e2e/stack.long.test.ts",
  "test/e2e/r2.long.test.ts",
  "test/tokenizer/rust-pairs.long.test.ts",
  "sdk/src/compile/commands/prepare-task.long.test.ts",
  "test/scaffold/project.long.test.ts",
  "test/tokenizer/truncation.long.test.ts",
  "test/tokenizer/rust-places.long.test.ts",
  "test/fuzz/fuzz.long.test.ts",
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
