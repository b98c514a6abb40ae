import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import LongestFirst from "./test/longest-first.ts";

const TESTS = ["sdk/{src,build}/**", "create-bert-edge/src/**", "test/**", "bench/**", "release/**"].map(
  (folder) => `${folder}/*.test.ts`,
);
/** Tests that start processes, prepare models or compute for seconds: `npm run test:all`. */
const LONG = ["**/*.long.test.ts"];
/** Tests of commands that keep all cores busy: `npm run test:all` runs them when nothing else runs. */
const COMMANDS = ["test/commands/*.long.test.ts"];
/** Links to this repository's own packages: their tests would run twice. */
const INSTALLED = ["**/node_modules/**"];

export default defineConfig({
  resolve: {
    // Tests beside the sdk's source are in its package, whose imports cannot lead out of it.
    alias: { "#test": new URL("test", import.meta.url).pathname },
  },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: TESTS, exclude: LONG } },
      { extends: true, test: { name: "long", include: LONG, exclude: [...COMMANDS, ...INSTALLED] } },
      { extends: true, test: { name: "commands", include: COMMANDS } },
    ],
    reporters: ["./test/no-warnings.ts", "default"],
    // Subprocesses run the sources: Node keeps their compiled form here instead of stripping types at every start.
    env: {
      NODE_COMPILE_CACHE: join(tmpdir(), "bert-edge-compile-cache"),
      // Commands that tests start keep results of stages here, not in the user's own cache.
      XDG_CACHE_HOME: join(tmpdir(), "bert-edge-test-cache"),
    },
    globalSetup: ["test/run-folder.ts"],
    setupFiles: ["test/seed-properties.ts", "test/quiet-onnxruntime.ts"],
    // A sequencer of our own would replace the one that shuffles files: `npm run test:flaky`.
    ...(!process.argv.some((option) => option.startsWith("--sequence.shuffle")) && {
      sequence: { sequencer: LongestFirst },
    }),
    // All files run in two or three processes. One for each file would load the sdk again for each. So
    // tests restore whatever they replace; `npm run test:flaky` runs them in other orders.
    isolate: false,
    // Unit tests take six seconds at most, and long ones twenty, if nothing else runs. Busy machines need several times as long. A test
    // that hangs ends after a minute.
    testTimeout: 60_000,
    // How long `expect.poll` waits for what must become true. A busy machine may need seconds.
    expect: { poll: { timeout: 10_000 } },
    // The first file that needs the default model prepares it: 15 seconds if nothing else runs.
    hookTimeout: 300_000,
    // Suites start servers and load models: two at a time are what two cores carry. `npm run test:all` has three, because its tests wait
    // for the processes that they start.
    maxWorkers: 2,
  },
});
