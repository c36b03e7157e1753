/** The part of a source that is stored sealed: a connection string, or values of headers. */
export type SourceSecret = {
  readonly connection?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}
