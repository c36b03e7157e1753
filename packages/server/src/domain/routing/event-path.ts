import { payloadSteps, requestSteps } from '@postroad/contract/plain'
import { hasMask } from '@postroad/contract/sent-again'
import { readPath, type Path } from './dot-path.ts'

/** The one place that resolves a path of a setting: into the payload of an event, or by `$request.…` into its request. */

/** The request behind an event, masked as it is stored. */
export type RequestView = {
  readonly method: string
  /** Without the query string; null: it was not stored. */
  readonly path: string | null
  /** Names in lower case. Repeated headers are joined as HTTP joins them. */
  readonly headers: Readonly<Record<string, string>>
  /** A name that occurs several times has a list of values. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
}

/** Everything that the paths of settings can read. `request` null: no request brought the payload. */
export type EventSource = { readonly payload: unknown; readonly request: RequestView | null }

/** A path of a setting, split once. */
export type EventPath = { readonly of: 'payload' | 'request'; readonly steps: Path }

export function compileEventPath(path: string): EventPath {
  const steps = requestSteps(path)
  return steps === undefined ? { of: 'payload', steps: payloadSteps(path) } : { of: 'request', steps }
}

/** The value at a path, or undefined. */
export function readEvent({ payload, request }: EventSource, { of, steps }: EventPath): unknown {
  if (of === 'payload') return readPath(payload, steps)
  return request === null ? undefined : (readPath(request, steps) ?? undefined)
}

/** Whether a value of a request had a credential, which no condition can compare. The path always shows one as dots. */
export function isMasked(value: unknown, { of, steps }: EventPath): boolean {
  return of === 'request' && steps[0] !== 'path' && hasMask(value)
}
