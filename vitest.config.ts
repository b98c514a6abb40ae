import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    // Tests beside the sdk's source are in its package, whose imports cannot lead out of it.
    alias: { "#test": new URL("test", import.meta.url).pathname },
  },
  test: {
    include: [
      "sdk/{src,build}/**/*.test.ts",
      "create-bert-edge/src/**/*.test.ts",
      "test/**/*.test.ts",
      "bench/**/*.test.ts",
      "release/*.test.ts",
    ],
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
