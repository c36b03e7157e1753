/** The part of WebAssembly that the sandbox uses. Only the library of browsers declares it. */
declare namespace WebAssembly {
  type Imports = Readonly<Record<string, Readonly<Record<string, (...values: never[]) => unknown>>>>
  // oxlint-disable-next-line typescript/no-extraneous-class -- a module has no members
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Imports)
    readonly exports: Readonly<Record<string, unknown>>
  }
  type Memory = { readonly buffer: ArrayBuffer; grow(pages: number): number }
  type Global = { value: number }
  class RuntimeError extends Error {}
}
