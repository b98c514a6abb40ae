type Code =
  | "flag_unknown"
  | "flag_invalid"
  | "name_invalid"
  | "folder_occupied"
  | "folder_unusable"
  | "project_missing"
  | "file_exists"
  | "manager_missing"
  | "command_failed";

/** A mistake of the user. Any other error is a bug. */
export class ScaffoldError extends Error {
  override readonly name = "ScaffoldError";
  readonly code: Code;
  /** A sentence that tells the user what to do. */
  readonly hint: string;

  constructor(code: Code, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
