import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { encode } from 'gpt-tokenizer'
import type { World } from './harness.ts'

/** The two eras of the protocol: with a handshake, and without one. */
export const ERAS = ['legacy', 'auto'] as const
export type Era = (typeof ERAS)[number]

type Connecting = { readonly key?: string; readonly era?: Era; readonly headers?: Readonly<Record<string, string>> }

/** The official client, connected to `/mcp`. */
export async function connected(
  world: Pick<World, 'baseUrl' | 'installed'>,
  { key, era = 'auto', headers = {} }: Connecting = {},
): Promise<Client> {
  const client = new Client({ name: 'postroad-tests', version: '1.0.0' }, { versionNegotiation: { mode: era } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${world.baseUrl}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key ?? world.installed.api_key}`, ...headers } },
    }),
  )
  return client
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read answers as a client without types would
export type Called = { readonly isError: boolean; readonly answer: any; readonly text: string; readonly tokens: number }

/** A tool call; the text and the structured content of its result are the same. */
export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Called> {
  const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: args })
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  if (content.length !== 1 || text !== JSON.stringify(structuredContent))
    throw new Error(`${name} answered two different things: ${text}`)
  return { isError, answer: structuredContent, text, tokens: encode(text).length }
}

/** A message of the modern era as bytes on the wire, for answers that the client hides. */
export function message(
  world: Pick<World, 'baseUrl' | 'installed'>,
  method: string,
  { params = {}, headers = {} }: { params?: Record<string, unknown>; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(`${world.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.installed.api_key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  })
}
