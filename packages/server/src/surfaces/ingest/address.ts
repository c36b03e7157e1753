import { RESERVED_ROOTS } from '@postroad/contract'
import type { Address } from '../../pipeline/types.ts'

/**
 * The address of an ingest request, or undefined when the path belongs to another surface (contract part 4, ingest). The ingest key is
 * in the path, or in `Authorization: Bearer` with its segment of the path left out (part 5).
 */
export function addressOf(path: string, authorization?: string): Address | undefined {
  // A slash at the end makes no difference, here as behind the router.
  const segments = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  if (segments.length < 3 || segments.length > 5 || segments[0] !== '') return undefined
  const parts = segments.slice(1).map(decoded)
  if (parts.some((part) => part === undefined || part === '')) return undefined
  const [first = '', second = '', third, fourth] = parts
  if (first === 'v1') return keyed(parts, authorization)
  if (third === undefined) return undefined
  if (RESERVED_ROOTS.has(first)) return undefined
  return { kind: 'url', workspace: first, project: second, slug: third, dataset: fourth }
}

const BEARER = /^Bearer +(ik_[A-Za-z0-9_]+)$/i

function keyed(
  [, kind = '', ...rest]: readonly (string | undefined)[],
  authorization: string | undefined,
): Address | undefined {
  // In upper or lower case: a mistyped key must not become the name of a dataset.
  const inPath = /^ik_/i.test(rest[0] ?? '')
  const sent = inPath || authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  const [key, last] = sent === undefined ? rest : [sent, ...rest]
  return key === undefined || (sent !== undefined && rest.length > 1) ? undefined : keyAddress(kind, { key, last })
}

function keyAddress(kind: string, at: { key: string; last: string | undefined }): Address | undefined {
  const { key, last } = at
  if (kind === 'ingest')
    return last === undefined ? { kind: 'key_rules', key } : { kind: 'key_dataset', key, dataset: last }
  if (kind === 'webhooks' && last !== undefined) return { kind: 'key_webhook', key, slug: last }
  return undefined
}

function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
