import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { createListener } from '../../src/surfaces/listener.ts'
import { Browser } from './browser.ts'
import { aDestination, aName, anIngestKey, aWebhook, post, signedIn, statement, Wire } from './fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Sink, type World, type WorldOptions } from './harness.ts'
import { anIdentityProvider, settingsFor, type IdentityProvider } from './identity-provider.ts'
import { anOwner, aPerson, aPersonWithPassword, PASSWORD } from './accounts.ts'
import { keysLockedByWaiting, Meanwhile } from './meanwhile.ts'
import { sse } from './stream-client.ts'
import { onWorldStage } from './world-stage.ts'

/** Requests that the server refuses, and the resources that they need. */
export let world: World
let sink: Sink
export let database: Database
export let meanwhile: Meanwhile

export const SIGNED = { verification: { scheme: 'payments_provider', secret: 'k' } }

export async function aSignedPost(age: number, signWith = 'k'): Promise<Answer> {
  const { public_url } = await aWebhook(world, SIGNED)
  const at = world.clock.wall() / 1_000 - age
  const digest = createHmac('sha256', signWith).update(`${at}.{}`).digest('hex')
  return post(public_url, '{}', { headers: { 'stripe-signature': `t=${at},v1=${digest}` } })
}

/** A delivery that has used up its schedule. */
export async function aFailedDelivery(): Promise<string> {
  const { destination } = await aDestination(world, {
    url: 'http://127.0.0.1:9/',
    datasets: ['unreachable'],
    retry: { schedule_seconds: [0] },
  })
  await post(`${world.endpoint}/unreachable`, '{}')
  return (
    await eventually(
      'the delivery has failed',
      async () =>
        (await world.admin('GET', `deliveries?destination_id=${destination.id}&state=failed`)).body.deliveries[0],
    )
  ).id
}

export async function getJson(url: string): Promise<Answer> {
  const response = await fetch(url)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

export const projectUuid = (): string => decodeId('project', world.installed.project.id) ?? ''

/** Another node stores an equal request for so long that the clock of this node reaches the end of its wait. */
export async function aSecondInFlight(): Promise<Answer> {
  const beside = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' } })
  const { public_url } = await aWebhook(world)
  const headers = { 'idempotency-key': 'in-flight' }
  try {
    return await database.transaction(async (tx) => {
      await statement(tx, 'lock table submissions in access exclusive mode')
      void post(public_url, '{}', { headers })
      await eventually('the first request waits for the table', async () =>
        (await keysLockedByWaiting(database)) > 0 ? true : undefined,
      )
      let second: Answer | undefined
      void post(public_url.replace(world.baseUrl, beside.baseUrl), '{}', { headers }).then(
        (answer) => (second = answer),
      )
      return eventually('the second request is answered', async () => {
        beside.clock.advance(500)
        return second
      })
    })
  } finally {
    await beside.stop()
  }
}

export async function aFullProject(): Promise<string> {
  const { body } = await world.admin('POST', 'projects', { name: aName('full') })
  await statement(
    database,
    `insert into datasets (workspace_id, project_id, id, name, created_at)
     select workspace_id, id, gen_random_uuid(), 'd' || n, now() from projects, generate_series(1, 1000) as n where id = '${decodeId('project', body.project.id)}'`,
  )
  return body.project.id
}

/** A node that allows each credential one request in ten seconds, after that request. */
export async function atABusyNode(work: (busy: World) => Promise<Answer>): Promise<Answer> {
  const busy = await aWorld({ beside: world, env: { ADMIN_REQUESTS_MAX: '1', LOG_LEVEL: 'silent' } })
  try {
    await busy.admin('GET', 'me')
    return await work(busy)
  } finally {
    await busy.stop()
  }
}

/** A dry run at a node with these limits for work in threads. */
export async function aHeavyDryRun(heavyLimits: WorldOptions['heavyLimits']): Promise<Answer> {
  const { id } = await aWebhook(world)
  const node = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' }, heavyLimits })
  try {
    return await node.admin('POST', `webhooks/${id}/test`, { payloads_text: `[[${'{},'.repeat(300_000)}{}]]` })
  } finally {
    await node.stop()
  }
}

/** The owner's page in the console, which sends no key. */
export async function aPage(): Promise<Record<string, string>> {
  const { workspace_id: workspaceId, user_id: userId } = await database.one<{ workspace_id: string; user_id: string }>({
    strings: ['select workspace_id, user_id from members'],
    values: [],
  })
  return signedIn(world, { workspaceId, userId })
}

export async function onWire(baseUrl: string, text: string): Promise<Answer> {
  const wire = new Wire(baseUrl).send(text)
  const answer = await wire.answer()
  wire.destroy()
  return {
    status: answer?.status ?? 0,
    headers: new Headers({ 'request-id': /^request-id: (\S+)/im.exec(answer?.head ?? '')?.[1] ?? '' }),
    body: JSON.parse(answer?.body ?? '{}'),
  }
}

/** The listener of the world waits ten seconds; this is the same listener with less patience. */
export async function anImpatientAnswer(): Promise<Answer> {
  const server = createListener(() => undefined)
  server.headersTimeout = 50
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await onWire(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'POST / HTTP/1.1\r\nHost')
  } finally {
    server.close()
  }
}

export const head = (headers: string): string =>
  `POST ${new URL(world.endpoint).pathname} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`

export async function aPausedDelivery(): Promise<string> {
  const { destination } = await aDestination(world, { url: sink.url, enabled: false })
  const { body } = await post(world.endpoint, '{}')
  const { body: listed } = await world.admin(
    'GET',
    `deliveries?record_id=${body.records[0].id}&destination_id=${destination.id}`,
  )
  return listed.deliveries[0].id
}

export async function aGet(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(world.baseUrl + path, { headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** The free plan allows two streams. */
export async function aFullStream(): Promise<Answer> {
  const { key } = await anIngestKey(world)
  const path = `/v1/stream?key=${key}`
  return meanwhile.onTheFreePlan(async () => {
    const open = [await sse(world.baseUrl + path), await sse(world.baseUrl + path)]
    const answer = await aGet(path)
    for (const client of open) client.close()
    return answer
  })
}

/** A page of another origin opens a WebSocket in the browser of a signed-in person. */
export async function aForeignPage(): Promise<Answer> {
  const cookie = (await anOwner(world)).header()
  const handshake =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='
  return onWire(
    world.baseUrl,
    `GET /admin/api/stream HTTP/1.1\r\nHost: a\r\n${handshake}\r\nOrigin: https://elsewhere.example\r\nCookie: ${cookie}\r\n\r\n`,
  )
}

/** A second node with separate settings, and a browser at it. */
export async function atADoor(
  env: Record<string, string>,
  work: (browser: Browser, baseUrl: string) => Promise<Answer>,
): Promise<Answer> {
  const node = await aWorld({ beside: world, env })
  try {
    return await work(new Browser(node.address), node.baseUrl)
  } finally {
    await node.stop()
  }
}

export async function byProvider(
  env: Record<string, string>,
  work: (provider: IdentityProvider, at: { browser: Browser; baseUrl: string }) => Promise<Answer>,
): Promise<Answer> {
  const provider = await anIdentityProvider()
  try {
    return await atADoor({ ...settingsFor(provider), ...env }, (browser, baseUrl) =>
      work(provider, { browser, baseUrl }),
    )
  } finally {
    await provider.stop()
  }
}

export async function aPersonsBrowser(): Promise<Browser> {
  const { email } = await aPersonWithPassword(world, database)
  const browser = new Browser(world.baseUrl)
  await browser.call('POST session', { email, password: PASSWORD })
  return browser
}

export const askForLink = () => new Browser(world.baseUrl).call('POST session/links', { email: 'often@example.com' })

/** Another person has proven the address meanwhile. */
export async function aTakenAddress(): Promise<Answer> {
  const owner = await anOwner(world)
  await owner.call('POST account/email', { email: 'soon-taken@example.com' })
  const token = 'a token created directly in the database'
  await database.run(
    sql`update one_time_tokens set hash = ${hashCredential(token)} where email = 'soon-taken@example.com'`,
  )
  const { userId } = await aPerson(world, database)
  await database.run(sql`update users set email = 'soon-taken@example.com' where id = ${userId}`)
  return owner.call('PUT account/email', { token })
}

export async function aResolvedAlert(): Promise<string> {
  const id = world.app.deps.uuid()
  const at = new Date(world.clock.now())
  await database.run(sql`
    insert into alerts (workspace_id, project_id, id, type, subject_kind, subject_id, subject_name, severity, value, peak, detail, opened_at,
                        updated_at, resolved_at)
    select workspace_id, id, ${id}, 'backlog.old', 'destination', id, 'ERP', 'warning', 70, 70, '{}', ${at}, ${at}, ${at}
      from projects
     where is_default
       and id = ${decodeId('project', world.installed.project.id) ?? ''}
  `)
  return encodeId('alert', id)
}

/** A file calls this once, before its tests. */
export function onRefusalStage(): void {
  onWorldStage(
    async (made) => {
      ;({ world, database } = made)
      sink = await aSink()
      meanwhile = new Meanwhile(world, database)
    },
    { env: { LOG_LEVEL: 'silent' } },
  )
  after(() => sink.stop())
}
