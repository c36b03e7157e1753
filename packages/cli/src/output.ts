export type OutputOptions = { readonly json?: true; readonly quiet?: true }

export type Answer = {
  /** Exactly what the API answered. */
  readonly json: unknown
  /** The ids in it, for pipes. */
  readonly ids: readonly string[]
  /** For people. */
  readonly text: () => string
}

/** Prints an answer in the one form that was asked for. */
export function print({ json, ids, text }: Answer, options: OutputOptions): void {
  if (options.json === true) console.log(JSON.stringify(json))
  else if (options.quiet !== true) console.log(text())
  else if (ids.length > 0) console.log(ids.join('\n'))
}
