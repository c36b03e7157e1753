import type { IncomingMessage } from 'node:http'
import type { Address, Asked } from '../../pipeline/types.ts'
import { addressOf } from './address.ts'

const EVENT: Asked = { kind: 'event' }
const PREFLIGHT: Asked = { kind: 'preflight' }
const PROBE: Asked = { kind: 'probe' }

/**
 * The kind and the address of an ingest request, or undefined when it belongs to another surface. A GET belongs to ingest if its
 * query contains `hub.challenge`. Another GET may be the question of a handshake, unless it asks for a page: then a person opened
 * the URL in a browser, and gets the console (contract part 4, ingest rule 1).
 */
export function askedOf({
  method,
  url = '/',
  headers,
}: IncomingMessage): { readonly address: Address; readonly asked: Asked } | undefined {
  const mark = url.indexOf('?')
  const asked = askedBy(method, { query: mark < 0 ? '' : url.slice(mark + 1), accept: headers.accept })
  if (asked === undefined) return undefined
  const address = addressOf(mark < 0 ? url : url.slice(0, mark), headers.authorization)
  if (address === undefined) return undefined
  if (asked.kind === 'handshake' && (address.kind !== 'url' || address.dataset !== undefined)) return undefined
  return { address, asked }
}

type Head = { readonly query: string; readonly accept: string | undefined }

function askedBy(method: string | undefined, { query, accept = '' }: Head): Asked | undefined {
  if (method === 'POST') return EVENT
  if (method === 'OPTIONS') return PREFLIGHT
  if (method === 'HEAD') return PROBE
  if (method !== 'GET') return undefined
  if (query !== '' && new URLSearchParams(query).has('hub.challenge')) return { kind: 'handshake', isHub: true }
  return accept.toLowerCase().includes('text/html') ? undefined : { kind: 'handshake', isHub: false }
}
