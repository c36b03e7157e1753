/** A configuration as the browser read it from a file or from the field. The server checks its content. */
export type ConfigFile = {
  readonly name: string
  readonly text: string
  readonly config: object
  /** Pasted text has no file name. */
  readonly isPasted?: boolean
}

/** The content of a file, or the sentence about its fault. */
export function readConfig(name: string, text: string): ConfigFile | { readonly problem: string } {
  try {
    const config: unknown = JSON.parse(text)
    if (typeof config !== 'object' || config === null || Array.isArray(config))
      return { problem: `${name} is not a configuration file. It must be a JSON object with "version": 1.` }
    return { name, text, config }
  } catch (error) {
    return { problem: `${name} is not valid JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}
