import { say } from './io.ts'

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
  if (options.json === true) say(JSON.stringify(json))
  else if (options.quiet !== true) say(text())
  else if (ids.length > 0) say(ids.join('\n'))
}
