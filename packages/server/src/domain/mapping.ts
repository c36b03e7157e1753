import type { Mapping } from '@postroad/contract'
import { compilePath, type Path, readPath, writePath } from './dot-path.ts'
import { compileTransform, type Apply } from './transform.ts'

/** What a list of mappings makes of a payload; 'whole' says: keep the text that came in. */
export type Mapped = 'whole' | { readonly data: unknown }

/** A list of mappings, ready for the road. */
export type CompiledMappings = (payload: unknown) => Mapped

type Step = {
  readonly target: Path
  /** The value for a payload; undefined leaves the field out. */
  readonly take: (payload: unknown) => unknown
}

/**
 * Compiles a list of saved mappings once. An empty list takes the whole payload; otherwise the record holds exactly
 * the targets. The same payload gives the same record, and no code of a tenant runs. `stringifyJson` gives its text.
 */
export function compileMappings(mappings: readonly Mapping[]): CompiledMappings {
  if (mappings.length === 0) return () => 'whole'
  const steps = mappings.map(stepOf)
  return (payload) => {
    const data: Record<string, unknown> = {}
    for (const { target, take } of steps) {
      const value = take(payload)
      if (value !== undefined) writePath(data, { path: target, value })
    }
    return { data }
  }
}

function stepOf(mapping: Mapping): Step {
  const target = compilePath(mapping.target)
  if (mapping.path === undefined) return { target, take: () => mapping.value }
  const path = compilePath(mapping.path)
  const fallback = mapping.default
  if (mapping.transform === undefined) {
    return { target, take: (payload) => orDefault(readPath(payload, path), fallback) }
  }
  const apply: Apply = compileTransform(mapping.transform)
  return { target, take: (payload) => orDefault(apply(readPath(payload, path)), fallback) }
}

/** A null that the sender wrote is a value; only what is missing gives way to the default. */
function orDefault(value: unknown, fallback: unknown): unknown {
  return value === undefined ? fallback : value
}
