/** The part of a source that is stored sealed: a connection string, or values of headers. */
export type SourceSecret = {
  readonly connection?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The part of a WebSocket trigger that is stored sealed. */
export type WsSecret = { readonly headers: Readonly<Record<string, string>>; readonly subscribe: readonly string[] }
