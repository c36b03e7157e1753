import { connect, type Socket } from 'node:net'
import { hashCredential } from '../../src/platform/cipher.ts'
import { openDatabase, type Database } from '../../src/platform/db.ts'
import { randomText } from '../../src/platform/ids.ts'
import { insertToken } from '../../src/resources/people/one-time-tokens/queries.ts'
import type { Answer, World } from './harness.ts'

/** Small builders over the admin API: the resources that a person would set up before an event arrives. */

type Members = Readonly<Record<string, unknown>>

let made = 0

/** A name that is unique in the project. */
export function aName(kind: string): string {
  made += 1
  return `${kind} ${made}`
}

async function create(world: World, path: string, body: Members): Promise<Answer['body']> {
  const answer = await world.admin('POST', path, body)
  if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** An endpoint; `public_url` is its address. */
export async function aWebhook(world: World, members: Members = {}): Promise<Answer['body']> {
  return (await create(world, 'webhooks', { name: aName('webhook'), ...members })).webhook
}

/** A project rule; without members it matches everything and files it whole into `routed`. */
export async function aRule(world: World, members: Members = {}): Promise<Answer['body']> {
  return (await create(world, 'rules', { name: aName('rule'), dataset: 'routed', ...members })).rule
}

/** An ingest key with its text and, when it requires signatures, its secret: both are shown once. */
export async function anIngestKey(
  world: World,
  members: Members = {},
): Promise<{ readonly id: string; readonly key: string; readonly secret: string }> {
  const {
    ingest_key,
    key,
    signing_secret = '',
  } = await create(world, 'ingest-keys', { name: aName('key'), ...members })
  return { id: ingest_key.id, key, secret: signing_secret }
}

/** A destination with its signing secret, which is shown once. */
export async function aDestination(
  world: World,
  members: Members,
): Promise<{ readonly destination: Answer['body']; readonly secret: string }> {
  const { destination, signing_secret } = await create(world, 'destinations', {
    name: aName('destination'),
    ...members,
  })
  return { destination, secret: signing_secret }
}

export type Posting = { readonly headers?: Readonly<Record<string, string>>; readonly type?: string | null }

/** Posts a body unchanged: `type` is its Content-Type, JSON when omitted, none when null. */
export async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer> | FormData,
  { headers = {}, type = 'application/json' }: Posting = {},
): Promise<Answer> {
  const typed = type === null || body instanceof FormData ? {} : { 'content-type': type }
  // With a text body fetch sets text/plain by itself; with bytes it sets nothing.
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const response = await fetch(url, { method: 'POST', headers: { ...typed, ...headers }, body: bytes })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : isJson ? JSON.parse(text) : text,
  }
}

/** One submission with its body, headers and decision. */
export async function submissionOf(world: World, id: string): Promise<Answer['body']> {
  return (await world.admin('GET', `submissions/${id}`)).body.submission
}

/** One record; `data_text` is its payload byte for byte. */
export async function recordOf(world: World, id: string): Promise<Answer['body']> {
  return (await world.admin('GET', `records/${id}`)).body.record
}

/** The posted payload as the first of its records stores it, byte for byte. */
export async function filedText(world: World, accepted: Answer): Promise<string> {
  return (await recordOf(world, accepted.body.records[0].id)).data_text
}

/** Signs a member in by a separate link; returns the headers that a page of the console sends. */
export async function signedIn(
  world: World,
  whose: { workspaceId: string; userId: string },
  database?: Database,
): Promise<Record<string, string>> {
  const token = randomText(43)
  const db = database ?? behind(world)
  try {
    await insertToken(db, {
      ...whose,
      purpose: 'sign_in',
      email: null,
      hash: hashCredential(token),
      expiresAt: new Date(world.clock.now() + 60_000),
    })
  } finally {
    if (database === undefined) await db.close()
  }
  const page = { 'x-requested-with': 'console' }
  const response = await fetch(`${world.baseUrl}/admin/api/session`, {
    method: 'POST',
    headers: { ...page, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  if (response.status !== 200) throw new Error(`Signing in answered ${response.status}: ${await response.text()}`)
  return { ...page, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' }
}

/** Direct access to the database of a world: for faults, and for states that no route creates yet. */
export function behind(world: World): Database {
  return openDatabase({
    target: world.storage.operator,
    connectionsMax: 2,
    applicationName: 'test',
    statementTimeoutMs: 60_000,
  })
}

/** One statement, exactly as written. */
export async function statement(database: Pick<Database, 'run'>, text: string): Promise<void> {
  await database.run({ strings: [text], values: [] })
}

export type RawAnswer = { readonly status: number; readonly head: string; readonly body: string }

/** A bare connection to the server: for bytes that no HTTP client would send. */
export class Wire {
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
  readonly #socket: Socket
  #text = ''
  #look: () => void = () => undefined

  constructor(baseUrl: string) {
    const { hostname, port } = new URL(baseUrl)
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString('latin1')
      this.#look()
    })
    this.#socket.on('error', () => undefined)
    this.closed = new Promise((resolve) =>
      this.#socket.on('close', () => {
        resolve()
        this.#look()
      }),
    )
  }

  /** All received bytes that were not yet taken as an answer. */
  get rest(): string {
    return this.#text
  }

  send(text: string | Uint8Array): this {
    this.#socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
    return this
  }

  /** Sends, and resolves once the bytes have left this process. */
  sent(text: string): Promise<void> {
    return new Promise((resolve) => this.#socket.write(Buffer.from(text, 'latin1'), () => resolve()))
  }

  /** The head of an answer that never has a body, such as one to HEAD; the connection is useless afterwards. */
  async head(): Promise<string> {
    while (!this.#text.includes('\r\n\r\n') && !this.#socket.destroyed) await this.#more()
    return this.#text
  }

  /** The next answer; undefined when the connection ended without one. An interim 100 is skipped. */
  async answer(): Promise<RawAnswer | undefined> {
    for (;;) {
      const found = takeAnswer(this.#text)
      if (found !== undefined) {
        this.#text = found.rest
        if (found.answer.status !== 100) return found.answer
      } else if (this.#socket.destroyed) {
        return undefined
      } else {
        await this.#more()
      }
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#look = resolve
    })
  }

  destroy(): void {
    this.#socket.destroy()
  }
}

function takeAnswer(text: string): { readonly answer: RawAnswer; readonly rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const from = end + 4
  const to = from + Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
  if (text.length < to) return undefined
  return { answer: { status: Number(head.slice(9, 12)), head, body: text.slice(from, to) }, rest: text.slice(to) }
}
