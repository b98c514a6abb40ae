import { dirname } from "node:path";

/**
 * An environment without the variables of npm, the test runner and the developer's shell. The running Node comes first
 * in PATH.
 */
export const cleanEnv = {
  PATH: [dirname(process.execPath), ...(process.env["PATH"] ?? "").split(":")]
    .filter((folder) => !folder.endsWith("node_modules/.bin"))
    .join(":"),
  HOME: process.env["HOME"] ?? "/",
};
