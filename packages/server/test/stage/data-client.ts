import { gunzipSync } from 'node:zlib'
import { aName } from './fixtures.ts'
import type { Answer, World } from './harness.ts'

export type DataAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  readonly text: string
  readonly body: Answer['body']
}

/** A Data API key and its text, which is shown once. */
export async function aDataKey(
  world: World,
  members: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly id: string; readonly key: string }> {
  const { status, body } = await world.admin('POST', 'data-keys', { name: aName('reader'), ...members })
  if (status !== 201) throw new Error(`POST data-keys answered ${status}: ${JSON.stringify(body)}`)
  return { id: body.data_key.id, key: body.key }
}

/** A request to the Data API. `body` is the parsed JSON of a JSON response. */
export async function readData(
  { world, key }: { readonly world: World; readonly key: string },
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<DataAnswer> {
  const response = await fetch(`${world.baseUrl}/v1/data${path}`, {
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity', ...headers },
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const text = bytes.toString()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  }
}

/** `fetch` decodes gzip by itself, so a test of the coding reads the raw bytes. */
export const unzipped = (bytes: Uint8Array): string => gunzipSync(bytes).toString()
