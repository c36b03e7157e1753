import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { connectBrowser, noChromium, startBrowser } from '../../../console/test/stage/shared-browser.ts'
import type { LoadVerbs } from '../load.ts'
import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint, signInUrlOf } from '../postroad.ts'
import { inTurns, type Stage } from '../stage.ts'
import { median } from '../statistics.ts'
import type { Figure } from '../table.ts'

type Browser = Awaited<ReturnType<typeof connectBrowser>>
type Page = Awaited<ReturnType<Browser['newPage']>>

export const EVENTS = 5_000
export const ENDPOINTS = 50
const FIRST_ROW_MS = 300
const ENTRY_KB = 120
const PAUSE_MS = 5_000

/** The time until a person sees the first row, in Chromium on the real server, beside a page of as many bytes and a bare read of the same list. */
export async function consoleInBrowser(stage: Stage): Promise<readonly Figure[]> {
  if (noChromium !== false) {
    stage.say(`No figures of the console: ${noChromium}`)
    return []
  }
  const stopBrowser = await startBrowser()
  const browser = await connectBrowser()
  try {
    return await measure(stage, browser)
  } finally {
    await browser.close()
    await stopBrowser()
  }
}

async function measure(stage: Stage, browser: Browser): Promise<readonly Figure[]> {
  const { base, session } = await seeded(stage, browser)
  const took: Record<'load' | 'still' | 'first' | 'firstBare' | 'route' | 'routeBare', number[]> = {
    load: [],
    still: [],
    first: [],
    firstBare: [],
    route: [],
    routeBare: [],
  }
  let entryKb = NaN
  const still = await aStillPage()
  const aPage = async (): Promise<Page> => {
    // The server allows a person 100 requests in ten seconds. The page would wait for ten seconds after a refused request.
    await pause(PAUSE_MS)
    return (await browser.newContext({ storageState: session })).newPage()
  }
  await inTurns(stage.rounds, {
    load: async () => {
      const page = await aPage()
      took.load.push(await loadOf(page, `${base}/events`, FIRST_ROW))
      const { entry, all } = await bytesOf(page)
      entryKb = entry / 1_000
      still.setBytes(all)
      await page.context().close()
    },
    still: async () => {
      const page = await aPage()
      took.still.push(await loadOf(page, still.url, "document.querySelector('h1')"))
      await page.context().close()
    },
    change: async () => {
      const page = await aPage()
      await loadOf(page, `${base}/events`, FIRST_ROW)
      // The code of both screens is loaded; their data is not read again before it is out of date.
      await change(page, 'Endpoints')
      await change(page, 'Events')
      took.route.push(await change(page, 'Endpoints'))
      took.routeBare.push(await bareRead(page, 'webhooks'))
      took.first.push(await listOf(page, `${base}/events`))
      took.firstBare.push(await bareRead(page, LIST))
      await page.context().close()
    },
  })
  still.stop()
  return [
    {
      what: 'First load of Events, to the first row',
      unit: 'ms',
      ours: median(took.load),
      beside: { name: 'a still page of as many bytes', value: median(took.still) },
    },
    {
      what: 'The list of Events, with the code at hand, to the first row',
      unit: 'ms',
      ours: median(took.first),
      beside: { name: 'a bare read of the list', value: median(took.firstBare) },
      aim: { most: FIRST_ROW_MS },
    },
    {
      what: 'Change back to Endpoints, to the first row',
      unit: 'ms',
      ours: median(took.route),
      beside: { name: 'a bare read of that list', value: median(took.routeBare) },
      aim: { most: FIRST_ROW_MS },
    },
    {
      what: 'Scripts of the page before its screen, compressed',
      unit: 'kB',
      ours: entryKb,
      beside: undefined,
      aim: { most: ENTRY_KB },
    },
  ]
}

/** A server with stored events and endpoints, and the session of its owner. */
async function seeded(stage: Stage, browser: Browser) {
  const folder = await stage.folder()
  const server = await stage.server({ folder })
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  for (let index = 1; index < ENDPOINTS; index += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await makeEndpoint(admin, `bench_${index}`, SECRET)
  }
  const load = stage.child<LoadVerbs>('load.ts')
  await load.ask('closed', { port: server.port, path, secret: SECRET, connections: 16, until: { count: EVENTS } })
  await load.stop()
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(await signInUrlOf(server, folder))
  await page.locator('nav[aria-label="Main"]').waitFor()
  const { origin, pathname } = new URL(page.url())
  const session = await context.storageState()
  await context.close()
  return { base: `${origin}${pathname.split('/').slice(0, 3).join('/')}`, session }
}

const LIST = 'records'
const FIRST_ROW = `document.querySelectorAll('[role=grid][aria-label="Events"] [role=row]')[1]`
const UNTIL = (seen: string): string =>
  `new Promise((done) => { const look = () => { ${seen} ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look) }; look() })`

/** Milliseconds from the start of the navigation until `seen` is drawn, with an empty cache. */
async function loadOf(page: Page, url: string, seen: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' })
  return page.evaluate<number>(UNTIL(seen))
}

/** Milliseconds from a click in the side bar until the first row of that list is drawn. */
function change(page: Page, screen: string): Promise<number> {
  const row = `document.querySelectorAll('[role=grid][aria-label="${screen}"] [role=row]')[1]`
  const link = `[...document.querySelectorAll('nav[aria-label="Main"] a')].find((one) => one.innerText.startsWith('${screen}'))`
  return page.evaluate<number>(
    `(() => { const began = performance.now(); ${link}.click(); return ${UNTIL(row)}.then((at) => at - began) })()`,
  )
}

/** The same page again with a warm cache, from the answer that names its project to its first row. The live stream opens first. */
async function listOf(page: Page, url: string): Promise<number> {
  const drawn = await loadOf(page, url, FIRST_ROW)
  const known = await page.evaluate<number>(
    "Math.min(...performance.getEntriesByType('resource').filter(({ name }) => name.includes('/admin/api/projects?')).map(({ responseEnd }) => responseEnd))",
  )
  return drawn - known
}

/** Milliseconds until the page has read and parsed the list that its screen read, without drawing it. */
function bareRead(page: Page, list: string): Promise<number> {
  return page.evaluate<number>(`(async () => {
    const asked = performance.getEntriesByType('resource').map(({ name }) => name).find((name) => /projects\\/[^/]+\\/${list}\\?/.test(name))
    if (asked === undefined) throw new Error('The page did not read ${list}.')
    const began = performance.now()
    const answer = await fetch(asked)
    await answer.json()
    return performance.now() - began
  })()`)
}

/** The bytes that the page received: those of the scripts that its document names, and all. */
function bytesOf(page: Page): Promise<{ entry: number; all: number }> {
  return page.evaluate<{ entry: number; all: number }>(`(async () => {
    const document = await (await fetch(location.href)).text()
    const files = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/'))
    const sum = (list) => list.reduce((total, { encodedBodySize }) => total + encodedBodySize, 0)
    const isNamed = ({ name }) => name.endsWith('.js') && document.includes(new URL(name).pathname)
    return { entry: sum(files.filter(isNamed)), all: sum(files) }
  })()`)
}

/** The ceiling of a first load: a page whose only script has as many bytes and draws one line. */
async function aStillPage(): Promise<{ readonly url: string; setBytes(bytes: number): void; stop(): void }> {
  let script = ''
  const server: Server = createServer((request, response) => {
    const isScript = request.url === '/all.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><title>still</title><script src="/all.js" defer></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const { port } = server.address() as AddressInfo
  const fill = (bytes: number): void => {
    const data = randomBytes(Math.ceil(bytes / 2)).toString('hex')
    script = `/* ${data} */ document.body.innerHTML = '<h1>still</h1>'`
  }
  fill(200_000)
  return { url: `http://127.0.0.1:${port}/`, setBytes: fill, stop: () => server.close() }
}
