/** Returns the shell command that runs some Python. */
export const pythonCommand = (code: string): string => `python3 -c '${code.replaceAll("'", `'"'"'`)}'`;
