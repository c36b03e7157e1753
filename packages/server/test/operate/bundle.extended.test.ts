import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** A copy of what the server needs, so that a test can change its sources. */
let copy: string
before(() => {
  copy = mkdtempSync(join(tmpdir(), 'postroad-bundle-'))
  for (const name of ['package.json', 'package-lock.json', 'docs/guides', 'docs/states', 'docs/operate'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  for (const name of ['server', 'contract', 'verify'])
    cpSync(join(ROOT, 'packages', name), join(copy, 'packages', name), {
      recursive: true,
      filter: (path) => !/\/(?:node_modules|dist|test|bench|chaos|sim)$/.test(path),
    })
  // The packages of the product are those of the copy, and the libraries those of the installation.
  makeModules()
})
after(() => rmSync(copy, { recursive: true, force: true }))

function makeModules(): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(copy, 'node_modules')]
  mkdirSync(join(to, '@postroad'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@postroad') symlinkSync(join(from, name), join(to, name))
  for (const name of ['server', 'contract', 'verify'])
    symlinkSync(join(copy, 'packages', name), join(to, '@postroad', name))
}

type Run = { readonly endpoint: string; readonly said: () => string; stop(): Promise<string> }

/** Runs `serve` of the copy; resolves once it has printed where to send. */
async function start(folder: string): Promise<Run> {
  const child = spawn(process.execPath, [join(copy, 'packages/server/build/start.ts'), 'serve'], {
    env: { PATH: process.env['PATH'], DATA_DIR: join(folder, 'data'), PORT: '0', LOG_FORMAT: 'json', PROCESSES: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const stderr = text(child.stderr)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const endpoint = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const url = /Endpoint +(\S+)\n/.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    })
    void ended.then(async () => reject(new Error(`It ended: ${said}${await stderr}`)))
  })
  return {
    endpoint,
    said: () => said,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      return said + (await stderr)
    },
  }
}

const post = (url: string, body: string): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

const dist = () => join(copy, 'packages/server/dist')
const newest = (): string => JSON.parse(readFileSync(join(dist(), 'bundle.json'), 'utf8')).folder

test('the bundle starts on a fresh folder, stores events of every size, and serves its pages', async () => {
  const server = await start(copy)
  const { origin } = new URL(server.endpoint)
  assert.equal((await post(server.endpoint, '{"hello":"world"}')).status, 201)
  // A body of this size is decoded and routed in a thread.
  const large = JSON.stringify({
    rows: Array.from({ length: 20_000 }, (_none, index) => ({ index, name: `row ${index}` })),
  })
  assert.equal((await post(server.endpoint, large)).status, 201)
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  assert.match(metrics, /^postroad_heavy_tasks [1-9]/m)
  for (const path of ['/docs', '/docs/api', '/sign-in', '/assets/hanken-grotesk.woff2', '/openapi.json', '/readyz'])
    // oxlint-disable-next-line no-await-in-loop -- one page after another
    assert.equal((await fetch(origin + path)).status, 200, path)
  const said = await server.stop()
  assert.doesNotMatch(said, /"level":[56]0|could not be bundled/)
})

test('a second start uses the same bundle, and a changed source, or one that is back, gets its own', async () => {
  const first = newest()
  const file = join(copy, 'packages/server/src/app.ts')
  const source = readFileSync(file, 'utf8')
  const run = async (): Promise<void> => {
    const server = await start(copy)
    assert.equal((await post(server.endpoint, '{}')).status, 201)
    await server.stop()
  }
  await run()
  assert.equal(newest(), first)
  writeFileSync(file, source.replace(/VERSION = '[^']+'/, `VERSION = '9.9.9'`))
  await run()
  assert.notEqual(newest(), first)
  assert.match(allText(newest()), /9\.9\.9/)
  writeFileSync(file, source)
  await run()
  assert.equal(newest(), first, 'the same sources make the same bundle')
})

function allText(folder: string): string {
  return readdirSync(join(dist(), folder))
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(dist(), folder, name), 'utf8'))
    .join('\n')
}

test('sources that cannot be bundled are run as they are, and one sentence says why', async () => {
  const file = join(copy, 'packages/server/build/bundle.ts')
  const source = readFileSync(file, 'utf8')
  writeFileSync(file, `throw new Error('the disk is full')\n${source}`)
  const program = join(copy, 'packages/server/build/start.ts')
  const said = await new Promise<string>((resolve) =>
    execFile(process.execPath, [program, 'nonsense'], (_error, _stdout, stderr) => resolve(stderr)),
  )
  writeFileSync(file, source)
  assert.match(
    said,
    /^postroad: The server could not be bundled \(the disk is full\), so it runs from its sources: [^\n]+\npostroad: There is no server command "nonsense"[^\n]+\n$/,
  )
  assert.ok(existsSync(dist()))
})
