import type { IncomingMessage } from 'node:http'
import type { Address, Asked } from '../../pipeline/types.ts'
import { addressOf } from './address.ts'

const EVENT: Asked = { kind: 'event' }
const PREFLIGHT: Asked = { kind: 'preflight' }
const PROBE: Asked = { kind: 'probe' }

/**
 * The kind and the address of an ingest request, or undefined when it belongs to another surface. A GET belongs to ingest only if its
 * query contains `hub.challenge`; any other GET goes to the console (contract part 4, ingest rule 1).
 */
export function askedOf({
  method,
  url = '/',
  headers,
}: IncomingMessage): { readonly address: Address; readonly asked: Asked } | undefined {
  const mark = url.indexOf('?')
  const asked = askedBy(method, mark < 0 ? '' : url.slice(mark + 1))
  if (asked === undefined) return undefined
  const address = addressOf(mark < 0 ? url : url.slice(0, mark), headers.authorization)
  if (address === undefined) return undefined
  if (asked.kind === 'handshake' && (address.kind !== 'url' || address.dataset !== undefined)) return undefined
  return { address, asked }
}

function askedBy(method: string | undefined, query: string): Asked | undefined {
  if (method === 'POST') return EVENT
  if (method === 'OPTIONS') return PREFLIGHT
  if (method === 'HEAD') return PROBE
  if (method !== 'GET' || query === '') return undefined
  const members = new URLSearchParams(query)
  const challenge = members.get('hub.challenge')
  return challenge === null
    ? undefined
    : { kind: 'handshake', challenge, mode: members.get('hub.mode'), token: members.get('hub.verify_token') }
}
