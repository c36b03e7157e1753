import { Client, type buildConnector } from 'undici'
import { targetOf } from '../address-guard.ts'
import type { OutboundReach } from '../outbound-reach.ts'
import type { Broken } from './dial-type.ts'
import { HEAD_BYTES_MAX, headsOn } from './response-heads.ts'

/** A GET request whose body is read piece by piece, for as long as pieces come. */
export type StreamAsked = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** From the call to the head of the response. */
  readonly headMsMax: number
  /** The longest silence in the body. */
  readonly silentMsMax: number
  readonly signal: AbortSignal
}

export type StreamResponse = {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Rejects when the connection breaks or is silent for too long. */
  readonly body: AsyncIterable<Buffer>
  /** Ends the connection, whatever is left of the body. */
  readonly close: () => void
}

/** Opens it through the address guard. It follows no redirect. Rejects with the error of the connection. */
export async function openStream({ dial }: OutboundReach, asked: StreamAsked): Promise<StreamResponse> {
  const target = targetOf(asked.url)
  if (typeof target === 'string') throw new Error(target)
  let dialed: Broken | undefined
  const client = new Client(target.origin, {
    connect: (to: buildConnector.Options, callback: buildConnector.Callback) => {
      dialed = dial(to, (...given) => {
        if (given[0] === null) headsOn(given[1], Infinity)
        callback(...given)
      })
    },
    headersTimeout: asked.headMsMax,
    bodyTimeout: asked.silentMsMax,
    pipelining: 1,
    maxHeaderSize: HEAD_BYTES_MAX,
  })
  try {
    const { statusCode, headers, body } = await client.request({
      path: target.path,
      method: 'GET',
      headers: asked.headers,
      signal: asked.signal,
    })
    const close = (): void => {
      body.on('error', () => undefined)
      body.destroy()
      void client.destroy()
    }
    return { status: statusCode, headers: flat(headers), body, close }
  } catch (error) {
    void client.destroy()
    // The connection may still be in the making.
    dialed?.destroy()
    throw error
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}
