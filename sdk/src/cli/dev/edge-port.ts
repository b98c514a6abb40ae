import { BertEdgeError } from "../../artifact/error.ts";
import { printNote } from "../output.ts";
import { freePort, isFree } from "./process.ts";

/**
 * Returns the port for the edge. If the default port is in use, takes any free port and says so.
 *
 * @param chosen whether the user has chosen this port
 * @throws BertEdgeError `setting_invalid` if the user's port is in use
 */
export async function edgePort(port: number, { chosen }: { chosen: boolean }): Promise<number> {
  if (await isFree(port)) return port;
  if (chosen) {
    throw new BertEdgeError("setting_invalid", `--port ${port} is in use by another program.`, {
      hint: `Give another port, leave --port out, or stop that program. \`lsof -i :${port}\` shows it.`,
    });
  }
  const other = await freePort();
  printNote(`${port} is in use; using ${other}.`);
  return other;
}
