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

/** The developer's environment, which may name a registry or a proxy, without what npm adds to it for a script. */
export function developerEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(CI|INIT_CWD|npm_(lifecycle|package)_.*|npm_config_(user_agent|local_prefix))$/.test(name),
  );
  return { ...Object.fromEntries(own), PATH: cleanEnv.PATH };
}
