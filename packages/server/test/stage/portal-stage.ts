import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createOutboundHttp } from '../../src/platform/outbound-http.ts'
import { aName, aWebhook, post } from './fixtures.ts'
import { aWorld, type Answer, type Received, type Reply, type World, type WorldOptions } from './harness.ts'
import { anAuthority } from './tls-files.ts'

/** A server with a customer portal, a receiver of a customer that speaks https, and events that name customers. */

export type Guest = {
  readonly portal: string
  /** `cus_…` */
  readonly customer: string
  readonly customerId: string
  readonly tokenId: string
  readonly token: string
  readonly url: string
}

export type Receiver = {
  readonly url: string
  readonly received: Received[]
  answer(with_: Reply): void
  stop(): Promise<void>
}

export type PortalStage = {
  readonly world: World
  readonly receiver: Receiver
  stop(): Promise<void>
}

/** A stage on which customers may reach this machine, because every receiver of a test is on it. */
export async function aPortalStage(
  env: Record<string, string> = {},
  loops: WorldOptions['loops'] = [],
): Promise<PortalStage> {
  const authority = anAuthority()
  const receiver = await aReceiver(authority.sign('localhost'))
  const world = await aWorld({
    loops,
    env: { PORTAL_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128', ...env },
    outbound: (options) => createOutboundHttp({ ...options, ca: authority.cert }),
  })
  return {
    world,
    receiver,
    stop: async () => {
      await world.stop()
      await receiver.stop()
    },
  }
}

export async function aReceiver({ key, cert }: { key: string; cert: string }): Promise<Receiver> {
  const received: Received[] = []
  let reply: Reply = { status: 200, body: 'ok' }
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { status, headers = {}, body = '' } = reply
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() })
      response.writeHead(status, headers).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
    url: `https://localhost:${(server.address() as AddressInfo).port}/`,
    received,
    answer: (with_) => {
      reply = with_
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A portal for many customers, unless the test says otherwise. */
export async function aPortal(world: World, members: object = {}): Promise<Answer['body']> {
  const answer = await world.admin('POST', 'portals', { name: aName('portal'), serves: 'many_customers', ...members })
  if (answer.status !== 201) throw new Error(`POST portals answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body.portal
}

/** A customer with a token. */
export async function aGuest(
  world: World,
  {
    portal,
    customerId = aName('customer'),
    name = `The ${customerId}`,
    ...more
  }: { portal: string; customerId?: string; name?: string; expires_in?: number },
): Promise<Guest> {
  const asked = { customer_id: customerId, customer_name: name, ...more }
  const { status, body } = await world.admin('POST', `portals/${portal}/tokens`, asked)
  if (status !== 201) throw new Error(`POST tokens answered ${status}: ${JSON.stringify(body)}`)
  return {
    portal,
    customer: body.portal_token.customer.id,
    customerId,
    tokenId: body.portal_token.id,
    token: body.token,
    url: body.url,
  }
}

/** A request to the portal API, as `METHOD path`. A string is a token; headers are sent as they are. */
// oxlint-disable-next-line max-params -- tests read as requests: who, what, and the body where there is one
export async function inPortal(
  world: World,
  who: Pick<Guest, 'token'> | Readonly<Record<string, string>>,
  line: string,
  body?: unknown,
): Promise<Answer> {
  const [method = 'GET', path = ''] = line.split(' ')
  const headers = typeof who['token'] === 'string' ? { authorization: `Bearer ${who['token']}` } : { ...who }
  const response = await fetch(`${world.baseUrl}/portal/api/${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) } as Record<
      string,
      string
    >,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/** The headers of the session that a token opens, for reads and for changes. */
export async function aPortalSession(
  world: World,
  guest: Pick<Guest, 'token'>,
): Promise<{
  readonly cookie: string
  readonly reads: Record<string, string>
  readonly changes: Record<string, string>
}> {
  const { headers } = await inPortal(world, guest, 'POST session')
  const cookie = headers.getSetCookie()[0] ?? ''
  const reads = { cookie: cookie.split(';')[0] ?? '' }
  return { cookie, reads, changes: { ...reads, 'x-requested-with': 'fetch' } }
}

/** An endpoint whose events name their customer in a header. */
export async function aCustomersWebhook(
  world: World,
  dataset: string,
): Promise<(customerId?: string) => Promise<Answer>> {
  const { public_url: url } = await aWebhook(world, { dataset, customer: { header: 'Service-Customer' } })
  return (customerId) =>
    post(url, '{"n":1}', customerId === undefined ? {} : { headers: { 'service-customer': customerId } })
}

/** The deliveries of a customer when nothing is under way. At least `count` have one of these states. */
export async function deliveriesOf(
  world: World,
  guest: Guest,
  { count, status }: { count: number; status: readonly string[] },
): Promise<Answer['body'][]> {
  await world.quiet()
  const { deliveries } = (await inPortal(world, guest, 'GET deliveries')).body
  const fits = deliveries.filter((delivery: { status: string }) => status.includes(delivery.status))
  assert.ok(fits.length >= count, JSON.stringify(deliveries))
  return fits
}
