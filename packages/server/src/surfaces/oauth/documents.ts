import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { acceptedMetadata } from './clients.ts'

const TIMEOUT_MS = 5_000

/**
 * Fetches the document that describes a client, by the client that checks every address: a private one is refused, a redirect is not
 * followed, and a long document is cut off. The library checks the rest. It fetches nothing else, so this is its only way out.
 */
export function createFetch({ outbound, log }: Pick<Deps, 'outbound' | 'log'>): typeof fetch {
  return async (input) => {
    const url = input instanceof Request ? input.url : String(input)
    const result = await outbound.request({
      url,
      method: 'GET',
      headers: { accept: 'application/json' },
      body: '',
      timeoutMs: TIMEOUT_MS,
      keptBytesMax: LIMITS.clientDocumentBytesMax,
      lane: 'oauth client documents',
    })
    if (result.kind === 'failure') {
      log.info('client_document.failed', { host: new URL(url).host, code: result.code })
      throw new Error(result.detail)
    }
    const { status, body, truncated, headers } = result
    if (status !== 200 || truncated) return new Response(null, { status: status === 200 ? 413 : statusOf(status) })
    return new Response(JSON.stringify(described(body)), { headers: cachingOf(headers) })
  }
}

/** The parts of the document that count. A document that is not an object stays as it is, and the library refuses it. */
function described(body: string): unknown {
  const document: unknown = JSON.parse(body)
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document
  return acceptedMetadata({ ...document })
}

function cachingOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const caching = headers['cache-control']
  return { 'content-type': 'application/json', ...(caching === undefined ? {} : { 'cache-control': caching }) }
}

/** A Response cannot have every status that a server may send. */
const statusOf = (status: number): number => (status >= 200 && status <= 599 ? status : 502)
