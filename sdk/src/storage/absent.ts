const codes = new Set(["ENOENT", "EISDIR", "ENOTDIR"]);

/** Whether a file system error means that there is no file: the path does not exist, is a folder, or goes through a file. */
export const isAbsent = (error: unknown): boolean => codes.has((error as NodeJS.ErrnoException).code ?? "");
