import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import { createOutboundHttp } from '../../../server/src/platform/outbound-http.ts'
import { eventually, type World } from '../../../server/test/stage/harness.ts'
import { aGuest, aPortal, aReceiver, type Guest, type Receiver } from '../../../server/test/stage/portal-stage.ts'
import { anAuthority } from '../../../server/test/stage/tls-files.ts'
import { aStage, noBrowser, type Stage, type Theme } from './browser.ts'

/** A page of another product, of another site: `localhost` beside the `127.0.0.1` of the server. */
export type Host = {
  readonly origin: string
  /** The next answers to POST /portal-token: the token, or undefined for a person who is not signed in. */
  token: string | undefined
  /** The page has this body. */
  body: string
  readonly asked: string[]
  stop(): Promise<void>
}

export async function aHost(): Promise<Host> {
  const host = { token: undefined as string | undefined, body: '', asked: [] as string[] }
  const server: Server = createServer((request, response) => {
    host.asked.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (request.url === '/portal-token')
      return void response
        .writeHead(host.token === undefined ? 401 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ token: host.token }))
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(
        `<!doctype html><html lang="en"><head><title>The product</title></head><body style="margin:0"><h1>The product</h1>${host.body}</body></html>`,
      )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(host, {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

export type PortalMade = {
  readonly stage: Stage
  readonly world: World
  readonly receiver: Receiver
  readonly host: Host
}

/** A stage whose customers can reach a receiver on this machine, and a page of another product. */
export function onPortals(prepare: (made: PortalMade) => void | Promise<void>): void {
  const made: { stage?: Stage; receiver?: Receiver; host?: Host } = {}
  before(async () => {
    if (noBrowser !== false) return
    const authority = anAuthority()
    made.receiver = await aReceiver(authority.sign('localhost'))
    made.host = await aHost()
    made.stage = await aStage({
      env: { PORTAL_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128' },
      outbound: (options) => createOutboundHttp({ ...options, ca: authority.cert }),
    })
    await prepare({ stage: made.stage, world: made.stage.world, receiver: made.receiver, host: made.host })
  })
  after(async () => {
    await made.stage?.stop()
    await made.receiver?.stop()
    await made.host?.stop()
  })
}

/** A customer in a new portal. */
export async function inANewPortal(
  world: World,
  { expires_in, ...members }: { readonly expires_in?: number } & Record<string, unknown> = {},
): Promise<Guest> {
  const portal = (await aPortal(world, members)).id
  return aGuest(world, { portal, ...(expires_in === undefined ? {} : { expires_in }) })
}

/** A page in which the customer has entered the portal. */
export async function entered(stage: Stage, guest: Guest, theme: Theme = 'light') {
  const seen = await stage.stranger(theme)
  await seen.page.goto(guest.url)
  await seen.page.getByRole('navigation', { name: 'Main' }).waitFor()
  return seen
}

/** The address of a view of a portal. */
export function viewOf(world: World, { portal }: Pick<Guest, 'portal'>, search = ''): string {
  return `${world.baseUrl}/portal/${portal}${search}`
}

/** The cookie of the portal in this browser. */
export async function portalCookie(context: BrowserContext) {
  return (await context.cookies()).find(({ name }) => name === '__Host-service_portal')
}

/** The frame in a page, once it is there. */
export async function frameIn(page: Page): Promise<Frame> {
  const frame = await (await page.waitForSelector('iframe')).contentFrame()
  if (frame === null) throw new Error('The frame has no content.')
  return frame
}

/** Waits until an expression is true. The page's scripts cannot evaluate a text, because the policy forbids it. */
export async function until(where: Page | Frame, expression: string): Promise<void> {
  await eventually(expression, async () => ((await where.evaluate(expression)) === true ? true : undefined))
}

/** Makes the page read its session again, as when a person returns to its tab. A link to press can be gone by then. */
export async function comeBack(page: Page): Promise<void> {
  await page.evaluate("dispatchEvent(new Event('focus'))")
}
