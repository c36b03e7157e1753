import type { IncomingMessage } from 'node:http'
import { DELIVERY_HEADERS, LIMITS } from '@postroad/contract'
import type { Captured } from '../types.ts'

type Given = Pick<Captured, 'address' | 'asked' | 'sourceIp' | 'receivedAt' | 'shareWith'>

/** This header shows that a Postroad delivers the request. The loop check limits the number of hops. */
const HOPS = DELIVERY_HEADERS.hops.toLowerCase()

/** A raw HTTP request → Captured. The body stays unread until the ladder reads it, and its bytes are stored as received. */
export function fromRequest(request: IncomingMessage, at: Given): Captured {
  const headers = headersOf(request)
  return {
    ...at,
    target: request.url ?? '/',
    headers,
    readBody: (bytesMax) => readBody(request, bytesMax),
    depthMax: depthMaxOf(headers),
  }
}

/** The nesting that JSON may have: more for a delivery, whose body the service that sent it had accepted. */
export const depthMaxOf = (headers: Captured['headers']): number =>
  headers[HOPS] === undefined ? LIMITS.jsonDepthMax : LIMITS.forwardedJsonDepthMax

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  const raw = request.rawHeaders
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase()
    const value = raw[index + 1] ?? ''
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
  }
  return headers
}

function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | 'too_large' | 'aborted'> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > bytesMax) return Promise.resolve('too_large')
  // The request ended while its credential was looked up, and will emit no further event.
  if (request.destroyed) return Promise.resolve('aborted')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > bytesMax) {
        request.removeAllListeners('data')
        request.resume()
        resolve('too_large')
        return
      }
      chunks.push(chunk)
    })
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', () => resolve('aborted'))
    request.on('close', () => resolve('aborted'))
  })
}
