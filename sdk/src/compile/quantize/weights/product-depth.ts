/** Inner dimension of the products that `addProduct` adds. TypeScript and AssemblyScript both compile this file. */
export const DEPTH = 32;
