#!/usr/bin/env node
const oldest = 22;
if (Number.parseInt(process.versions.node, 10) < oldest) {
  console.error(`bert-edge needs Node ${oldest} or newer; this is ${process.versions.node}.`);
  console.error("Run it by npx or an npm script where the npm package `node` is installed, or update Node.");
  process.exit(1);
}
await import("../dist/cli/index.js");
