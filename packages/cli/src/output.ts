import { say } from './io.ts'

export type OutputOptions = { readonly json?: true; readonly quiet?: true }

export type Answer = {
  /** The response of the API. */
  readonly json: unknown
  /** The ids in the response, for pipes. */
  readonly ids: readonly string[]
  /** The output for people. */
  readonly text: () => string
}

/** Prints a result in the form that the options select. */
export function print({ json, ids, text }: Answer, options: OutputOptions): void {
  if (options.json === true) say(JSON.stringify(json))
  else if (options.quiet !== true) say(text())
  else if (ids.length > 0) say(ids.join('\n'))
}
