import { run } from "./run.ts";
import { ScaffoldError } from "./scaffold-error.ts";

try {
  await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ScaffoldError)) throw error;
  console.error(`\nError ${error.code}: ${error.message}\n  ${error.hint}`);
  process.exitCode = 1;
}
