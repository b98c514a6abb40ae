import { globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const TESTS = ["sdk/{src,build}/**", "create-bert-edge/src/**", "test/**", "bench/**", "release/**"].map(
  (folder) => `${folder}/*.test.ts`,
);
/** Tests that start processes, prepare models or compute for seconds: `npm run test:all`. */
const LONG = ["**/*.long.test.ts"];
/** Test files whose random tests have a larger budget in `npm run test:all`. */
const withBudget = globSync(TESTS, { cwd: import.meta.dirname, exclude: LONG }).filter((path) =>
  /"[^"]*\/runs\.ts"/.test(readFileSync(join(import.meta.dirname, path), "utf8")),
);

export default defineConfig({
  resolve: {
    // Tests beside the sdk's source are in its package, whose imports cannot lead out of it.
    alias: { "#test": new URL("test", import.meta.url).pathname },
  },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: TESTS, exclude: LONG, provide: { isLong: false } } },
      { extends: true, test: { name: "long", include: [...LONG, ...withBudget], provide: { isLong: true } } },
    ],
    reporters: ["default", "./test/no-warnings.ts"],
    // Subprocesses run the sources: Node keeps their compiled form here instead of stripping types at every start.
    env: {
      NODE_COMPILE_CACHE: join(tmpdir(), "bert-edge-compile-cache"),
      // Commands that tests start keep results of stages here, not in the user's own cache.
      XDG_CACHE_HOME: join(tmpdir(), "bert-edge-test-cache"),
    },
    globalSetup: ["test/run-folder.ts"],
    // All files run in two processes: one for each file would take much longer. So tests restore whatever they replace.
    isolate: false,
    testTimeout: 60_000,
    // How long `expect.poll` waits for what must become true. A busy machine may need seconds.
    expect: { poll: { timeout: 10_000 } },
    // The first file that needs the default model prepares it: a minute of a machine that does nothing else.
    hookTimeout: 300_000,
    // Suites start servers and load models: two at a time are what two cores carry.
    maxWorkers: 2,
  },
});
