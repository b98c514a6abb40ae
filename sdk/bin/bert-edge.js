#!/usr/bin/env node
const OLDEST = "22.12";
const [major, minor] = process.versions.node.split(".").map(Number);
const [oldestMajor, oldestMinor] = OLDEST.split(".").map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  console.error(`bert-edge needs Node ${OLDEST} or newer; this is ${process.versions.node}.`);
  console.error("Install a newer version from https://nodejs.org or with your version manager.");
  process.exit(1);
}
await import("../dist/cli/index.js");
