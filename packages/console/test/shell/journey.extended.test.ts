import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { aSink, type Sink } from '../../../server/test/stage/harness.ts'
import { aBrowser, buildConsole, noBrowser, type BrowserOf } from '../stage/browser.ts'

/** The file that `npm start` runs. */
const MAIN = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url))
const SECONDS_MAX = 60

let folder: string
let browser: BrowserOf
let sink: Sink

before(async () => {
  if (noBrowser !== false) return
  // `npm ci` has built the console, and a person has a browser open.
  buildConsole()
  folder = await mkdtemp(join(tmpdir(), 'postroad-journey-'))
  browser = await aBrowser()
  sink = await aSink()
})
after(async () => {
  await browser?.stop()
  await sink?.stop()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

test(
  'from `npm start` on a fresh folder, the server receives, routes and delivers an event within 60 seconds',
  { skip: noBrowser },
  async () => {
    const began = performance.now()
    const server = await aServer()
    try {
      const started = seconds(began)
      const seen = await browser.open()
      const { page } = seen
      await page.goto(server.console)
      await page.getByRole('heading', { name: 'Send your first event' }).waitFor()
      const opened = seconds(began)

      // A destination for the event.
      await page.goto(new URL('destinations', page.url()).href)
      await page.getByRole('heading', { name: 'No destinations yet' }).waitFor()
      await page.getByRole('button', { name: 'New destination' }).last().click()
      await page.getByRole('button', { name: /^Webhook receiver/ }).click()
      await page.getByLabel('URL', { exact: true }).fill(sink.url)
      await page.getByLabel('Name', { exact: true }).fill('receiver')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('link', { name: 'Events', exact: true }).click()
      await page.getByText('Listening').waitFor()

      await promisify(execFile)('sh', ['-c', `${server.curl} -s`])
      // The page opens the first event by itself.
      const path = page.getByRole('group', { name: 'Path of this event' })
      await path.getByRole('listitem').filter({ hasText: 'Received' }).waitFor()
      await path.getByRole('listitem').filter({ hasText: 'Routed' }).getByText('1 destination').waitFor()
      await path.getByRole('listitem').filter({ hasText: 'receiver' }).getByText('200').waitFor()
      const took = seconds(began)
      const [request] = await sink.until(1)
      assert.ok(request?.headers['webhook-signature'])
      const parts = `${started} s until the server had started, ${opened} s until the console was open`
      assert.ok(took <= SECONDS_MAX, `it took ${took} s: ${parts}`)
      await seen.close()
    } finally {
      await server.stop()
    }
  },
)

const seconds = (began: number): number => Math.round((performance.now() - began) / 100) / 10

/** A separate server on a fresh folder, and the three lines that it printed. */
async function aServer(): Promise<{ console: string; curl: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [MAIN, 'start'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'warn',
      OUTBOUND_ALLOW: '127.0.0.0/8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let said = ''
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (/Try it +\S.*\n/.test(said)) resolve()
    })
    void ended.then(() => reject(new Error(`The server ended: ${complaints}`)))
  })
  const line = (name: string): string => new RegExp(`${name} +(.+)`).exec(said)?.[1]?.trim() ?? ''
  return { console: line('Console'), curl: line('Try it'), stop }
}
