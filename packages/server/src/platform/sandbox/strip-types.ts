import { stripTypeScriptTypes } from 'node:module'

/** Types become spaces, so every line and column stays where its author wrote it, and no source map is needed. */
export function withoutTypes(code: string): { readonly code: string } | { readonly error: string } {
  try {
    return { code: quietly(() => stripTypeScriptTypes(code, { mode: 'strip' })) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** Node calls the function experimental on the standard error. The version of Node is pinned, so this says nothing to a person. */
function quietly<Value>(work: () => Value): Value {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => undefined
  try {
    return work()
  } finally {
    process.emitWarning = emitWarning
  }
}
