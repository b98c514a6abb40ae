/** Makes the errors of a file that cannot be read. */
export interface FileFaults {
  /** The file is damaged. @param fault such as "entry x lies outside the file" */
  readonly invalid: (fault: string, cause?: unknown) => Error;
  /** The file may be sound, but is not supported. @param fault such as "is compressed" */
  readonly unsupported: (fault: string) => Error;
}
