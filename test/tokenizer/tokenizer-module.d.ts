/** The tokenizer that e2e.ts gives to the Worker. */
declare module "tokenizer" {
  const file: ArrayBuffer;
  export default file;
}
