import manifest from "../package.json" with { type: "json" };

// Older versions of Node must be able to load this file, so it imports the command only afterwards.
const oldest = manifest.engines.node.replace(">=", "");
const { node } = process.versions;
if (node.localeCompare(oldest, "en", { numeric: true }) < 0) {
  console.error(
    `create-bert-edge needs Node ${oldest} or newer; this is ${node}. Install a newer version from https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  await import("./main.ts");
}
