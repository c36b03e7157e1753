import { isRawNumber } from '../json/json-text.ts'
import type { Path } from '../routing/dot-path.ts'
import { compileEventPath, isMasked, readEvent, type EventSource } from '../routing/event-path.ts'

/** A place in a request that a setting of an endpoint names: a header, or a dot path into the payload. */
export type Place = { readonly header: string } | { readonly path: string }

export type Placed = EventSource & { readonly headers: Readonly<Record<string, string>> }

export type CompiledPlace = {
  /** Identifies the place, so that a changed setting is recognized. */
  readonly source: string
  /** The path into the payload; undefined: it is in the request. */
  readonly path: Path | undefined
  /** undefined: nothing usable is there. */
  readonly textOf: (of: Placed) => string | undefined
}

export function compilePlace(place: Place): CompiledPlace {
  if ('header' in place) {
    const name = place.header.toLowerCase()
    return { source: `header ${name}`, path: undefined, textOf: ({ headers }) => textOf(headers[name]) }
  }
  const path = compileEventPath(place.path)
  return {
    source: `path ${place.path}`,
    path: path.of === 'payload' ? path.steps : undefined,
    textOf: (of) => {
      const value = readEvent(of, path)
      return isMasked(value, path) ? undefined : textOf(value)
    },
  }
}

/** Any text that is not blank, or a number as it was written, because providers number their events in many ways. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'object' && isRawNumber(value)) return value.rawJSON
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
