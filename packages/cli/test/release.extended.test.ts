import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { eventually } from '../../server/test/stage/harness.ts'
import { lives } from './command-line.ts'

/** The tarball of a release, as a stranger uses it: installed in an empty folder, where nothing of this repository is found. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

let folder: string
let tarball: string
let installed: string
/** The environment of a stranger: a Node from 24 on, npm, and no variable of this run. Install scripts do not run. */
const env = (): NodeJS.ProcessEnv => ({
  PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
  HOME: folder,
  POSTROAD_CONFIG_DIR: join(folder, 'config'),
  PORT: '0',
  LOG_FORMAT: 'json',
  npm_config_cache: process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? folder, '.npm'),
  npm_config_ignore_scripts: 'true',
  npm_config_prefer_offline: 'true',
})

const begun = performance.now()
before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'postroad-release-')))
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/release.ts'), folder])
  const packed = performance.now()
  tarball = stdout.trim()
  await run('npm', ['install', '--prefix', folder, tarball], { cwd: folder, env: env() })
  installed = join(folder, 'node_modules/postroad')
  console.log(`Packed in ${seconds(begun, packed)} s, installed in ${seconds(packed)} s.`)
})
const left = new Set<number>()
after(async () => {
  for (const pid of left) if (lives(pid)) process.kill(pid, 'SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const seconds = (from: number, to = performance.now()): string => ((to - from) / 1000).toFixed(1)

/** Runs a program in the folder until its output matches. */
async function begin([file, ...args]: readonly [string, ...string[]], awaited: RegExp, more: NodeJS.ProcessEnv = {}) {
  const child = spawn(file, args, { cwd: folder, env: { ...env(), ...more }, stdio: 'pipe' })
  left.add(child.pid ?? 0)
  let said = ''
  const stderr = text(child.stderr)
  const ended = once(child, 'close').then(async () => said + (await stderr))
  const matched = new Promise<RegExpExecArray>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const found = awaited.exec(said)
      if (found !== null) resolve(found)
    })
  })
  const found = await Promise.race([matched, ended.then((all) => assert.fail(`It ended: ${all}`))])
  return { pid: child.pid ?? 0, found, ended, said: () => said }
}

async function command(args: readonly string[], more: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await run('npx', ['postroad', ...args], { cwd: folder, env: { ...env(), ...more } })
  return stdout
}

test('a stranger starts the server with npx postroad, sends an event, sees it delivered to the sink, and stops all of it', async () => {
  const from = performance.now()
  const server = await begin(['npx', 'postroad'], /"event":"server\.started"/)
  assert.match(server.said(), /^ {2}Console {4}\S+#t=\S+\n {2}Endpoint {3}\S+\n {2}Try it {5}curl .+\n$/m)
  const { endpoint = '' } = /Endpoint +(?<endpoint>\S+)/.exec(server.said())?.groups ?? {}
  const first = await fetch(endpoint, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  assert.equal(first.status, 201)
  console.log(`From npx to the 201 of the first event: ${seconds(from)} s; since the build began: ${seconds(begun)} s.`)

  const local = { PORT: new URL(endpoint).port }
  const sink = await begin([join(folder, 'node_modules/.bin/postroad'), 'sink', '--port', '0'], /http:\/\/\S+/)
  await command(['destinations', 'create', sink.found[0], '--name', 'sink'], local)
  assert.match(await command(['send', '-d', '{"type":"order.created","total":42.5}'], local), /Stored/)
  await eventually('the delivery at the sink', () =>
    Promise.resolve(sink.said().includes('order.created') ? true : undefined),
  )
  const { origin } = new URL(endpoint)
  for (const path of ['/', '/docs', '/docs/api', '/sign-in', '/assets/hanken-grotesk.woff2', '/openapi.json'])
    // oxlint-disable-next-line no-await-in-loop -- a failure names the first page that a release lacks
    assert.equal((await fetch(origin + path)).status, 200, path)
  assert.match(await (await fetch(origin)).text(), /<div id="root">/, 'the console is built')

  const pids = [server.pid, Number(/"pid":(\d+)/.exec(server.said())?.[1]), postgresPid()]
  for (const pid of pids) left.add(pid)
  for (const { pid } of [sink, server]) process.kill(pid, 'SIGTERM')
  await sink.ended
  assert.match(await server.ended, /"event":"server\.stopping"/)
  await eventually('the end of every process', () => Promise.resolve(pids.some(lives) ? undefined : true))
})

const postgresPid = (): number =>
  Number(readFileSync(join(folder, 'data/postgres/postmaster.pid'), 'utf8').split('\n')[0])

test('the package has no source, builds nothing and needs no library: each part of its bundles loads', async () => {
  assert.deepEqual(globSync('**/*.{ts,tsx,map}', { cwd: installed }), [])
  const { dependencies, scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  assert.deepEqual([dependencies, scripts], [undefined, undefined])
  const parts = globSync('packages/{server/dist/release,cli/dist}/*-*.js', { cwd: installed })
  assert.ok(parts.length > 100, String(parts.length))
  const load = `for (const url of ${JSON.stringify(parts.map((part) => pathToFileURL(join(installed, part)).href))}) await import(url)`
  await run(process.execPath, ['--input-type=module', '--eval', load], { cwd: folder, env: env() })
})

test('under an older Node, one sentence says what the package needs', async () => {
  const older =
    'data:text/javascript,if(process.argv[1]?.endsWith("postroad"))Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})'
  await assert.rejects(command([], { NODE_OPTIONS: `--import=${encodeURI(older)}` }), {
    code: 1,
    stdout: '',
    stderr:
      'postroad: Postroad needs Node 24 or newer, and this is Node 20.20.2. Install a newer Node, or run npx -p node@24 -p postroad postroad.\n',
  })
})

const hasDpkg = spawnSync('dpkg-deb', ['--version']).status === 0

test(
  'the package for Debian has all that its unit starts: a Node, the server and a PostgreSQL',
  { skip: !hasDpkg },
  async () => {
    const { stdout } = await run(process.execPath, [join(ROOT, 'scripts/release-deb.ts'), tarball, folder])
    const tree = join(folder, 'tree')
    await run('dpkg-deb', ['--extract', stdout.trim(), tree])
    const unit = readFileSync(join(tree, 'usr/lib/systemd/system/postroad.service'), 'utf8')
    const [, line = ''] = /^ExecStart=(.+)$/m.exec(unit) ?? []
    const [node = '', program = '', ...args] = line.split(' ')
    const data = { DATA_DIR: join(folder, 'debian'), PATH: '/usr/bin:/bin' }
    const server = await begin([tree + node, tree + program, ...args], /"event":"server\.started"/, data)
    const { endpoint = '' } = /Endpoint +(?<endpoint>\S+)/.exec(server.said())?.groups ?? {}
    const sent = await fetch(endpoint, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    assert.equal(sent.status, 201)
    process.kill(server.pid, 'SIGTERM')
    assert.match(await server.ended, /"event":"server\.stopping"/)
  },
)
