/** A file of the package as a module, which bundlers take along: WebAssembly in base64, or text. */
declare const content: string;
export default content;
