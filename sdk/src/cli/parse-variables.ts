/**
 * Reads a file of variables as wrangler does, with the same library. `parseEnv` of Node.js reads neither `NAME: value` nor a file with a
 * byte order mark.
 */
export { parse as parseVariables } from "dotenv";
