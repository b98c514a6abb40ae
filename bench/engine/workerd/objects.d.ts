declare const objects: Readonly<Record<string, ArrayBuffer>>;
export default objects;
