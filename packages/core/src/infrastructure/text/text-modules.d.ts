declare module "*.md" {
  const text: string;
  export default text;
}

declare module "*.wasm" {
  const path: string;
  export default path;
}
