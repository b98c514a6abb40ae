/** A line `NAME=value` or `NAME: value`. A quoted value may have several lines. */
const LINE =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$/gm;

/**
 * Reads a file of variables as dotenv does, which wrangler uses. `parseEnv` of Node.js reads neither `NAME: value` nor a file with a
 * byte order mark. https://github.com/motdotla/dotenv#what-rules-does-the-parsing-engine-follow
 */
export function parseVariables(text: string): NodeJS.Dict<string> {
  const lines = text.replaceAll(/\r\n?/g, "\n").matchAll(LINE);
  return Object.fromEntries([...lines].map(([, name = "", written = ""]) => [name, unquoted(written.trim())]));
}

function unquoted(written: string): string {
  const value = written.replace(/^(['"`])([\s\S]*)\1$/gm, "$2");
  return written.startsWith('"') ? value.replaceAll("\\n", "\n").replaceAll("\\r", "\r") : value;
}
