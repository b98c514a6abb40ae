/** Why a line of a golden file cannot be used. `readGolden` adds the file and the number of the line. */
export class Misfit extends Error {
  override readonly name = "Misfit";
  /** `data_invalid` for a wrong format, `data_unsuitable` for what the model does not have. */
  readonly code: "data_invalid" | "data_unsuitable";

  constructor(code: Misfit["code"], message: string) {
    super(message);
    this.code = code;
  }
}
