import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { aWorld, eventually, type World } from '../../server/test/stage/harness.ts'
import { BUNDLER, NODE_NEXT, Stranger, succeeds } from './stranger.ts'

/** The package as a user installs it. `package.extended.test.ts` compares all of its types with the contract. */
const stranger = new Stranger()
let world: World
let environment: Record<string, string>

before(async () => {
  // The receiver compares the signed time with the clock of this machine.
  world = await aWorld({ loops: 'all', now: Date.now() })
  const key = await world.admin('POST', 'ingest-keys', { name: 'Readme' })
  environment = {
    POSTROAD_URL: world.baseUrl,
    POSTROAD_TOKEN: world.installed.api_key,
    POSTROAD_INGEST_KEY: key.body.key,
  }
  await stranger.install()
})
after(async () => {
  await world.stop()
  stranger.remove()
})

test('the package contains JavaScript and types, and depends on nothing', () => {
  const manifest = JSON.parse(readFileSync(join(stranger.installed, 'package.json'), 'utf8'))
  assert.deepEqual(
    ['dependencies', 'peerDependencies', 'optionalDependencies', 'scripts', 'private'].filter(
      (name) => name in manifest,
    ),
    [],
  )
  assert.deepEqual(readdirSync(stranger.installed).toSorted(), ['LICENSE', 'README.md', 'lib', 'package.json'])
  assert.deepEqual(
    readdirSync(join(stranger.project, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['@postroad'],
  )
  const files = readdirSync(join(stranger.installed, 'lib'))
  assert.ok(files.includes('index.js') && files.includes('index.d.ts'))
  assert.deepEqual(
    files.filter((name) => !/\.(js|d\.ts)$/.test(name)),
    [],
  )
  for (const file of files) {
    const text = readFileSync(join(stranger.installed, 'lib', file), 'utf8')
    const imported = [...text.matchAll(/(?:\bfrom |\bimport\(|^import )'([^']+)'/gm)].map((match) => match[1] ?? '')
    assert.deepEqual(
      imported.filter((name) => !/^\.\/[\w-]+\.js$/.test(name)),
      [],
      `imports of ${file}`,
    )
  }
})

test('the programs of the README compile under nodenext and bundler', async () => {
  const names = stranger.examples().map(([name]) => name)
  assert.deepEqual(names, ['send.ts', 'list.ts', 'receive.ts', 'watch.ts', 'errors.ts'])
  assert.equal(await stranger.complaints(names, NODE_NEXT), '')
  assert.equal(await stranger.complaints(names, BUNDLER), '')
})

test('the types need neither Node nor its types', async () => {
  stranger.write(
    'edge.ts',
    `import { Postroad, verifySignature } from '@postroad/sdk'
     import { SignatureError } from '@postroad/sdk/verify-signature'
     const postroad = new Postroad({ url: 'https://hooks.example.com', token: 'hk_x' })
     export async function handle(request: Request): Promise<Response> {
       const event = await verifySignature({ body: await request.text(), headers: request.headers, secret: 'whsec_x' })
       await postroad.records.list({ dataset: event.dataset })
       return new Response(SignatureError.name)
     }`,
  )
  assert.equal(await stranger.complaints(['edge.ts'], { ...BUNDLER, types: [], lib: ['es2022', 'dom'] }), '')
})

test('a request with a wrong member, and a response member that does not exist, do not compile', async () => {
  stranger.write(
    'wrong.ts',
    `import { Postroad } from '@postroad/sdk'
     const postroad = new Postroad({ url: 'https://hooks.example.com' })
     await postroad.destinations.create({ name: 'x', url: 5 })
     await postroad.deliveries.list({ state: 'lost' })
     for await (const delivery of postroad.deliveries.list()) delivery.nothing
     await postroad.destinations.get()`,
  )
  const said = await stranger.complaints(['wrong.ts'], NODE_NEXT)
  const lines = [...said.matchAll(/^wrong\.ts\((\d+),/gm)].map((match) => Number(match[1]))
  assert.deepEqual([...new Set(lines)], [3, 4, 5, 6], said)
})

const node = (file: string): Promise<string> =>
  succeeds(process.execPath, [file], { cwd: stranger.project, env: environment })

test('the programs of the README run against a server', async () => {
  const receiver = await aReceiver()
  try {
    assert.match(await node('send.ts'), /^sub_\w+ 1\n$/)
    assert.equal(await receiver.line(), 'orders {"order":"A-1001","total":42.5}')
    await waitFor(async () => (await world.admin('GET', 'deliveries?state=delivered')).body.deliveries.length === 1)
    assert.match(await node('list.ts'), /^dlv_\w+ orders 204\n1 null\n$/)
    assert.match(await node('watch.ts'), /^rec_\w+ \{"order":"A-1001","total":42\.5\}\n$/)
    assert.equal(await node('errors.ts'), 'There is no such destination.\n')
  } finally {
    await receiver.stop()
  }
})

/** The receiver of the README as a process, with a destination that delivers to it. */
async function aReceiver() {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const made = await world.admin('POST', 'destinations', { name: 'Receiver', url, datasets: ['orders'] })
  const child = spawn(process.execPath, ['receive.ts'], {
    cwd: stranger.project,
    env: { ...process.env, NODE_OPTIONS: '', PORT: String(port), SIGNING_SECRETS: made.body.signing_secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await waitFor(async () => (await fetch(url).catch(() => undefined))?.status === 401)
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return {
    line: async (): Promise<string> => {
      await waitFor(() => said.includes('\n'))
      return said.slice(0, said.indexOf('\n'))
    },
    stop: async (): Promise<void> => {
      child.kill()
      await ended
    },
  }
}

async function waitFor(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  await eventually('the program says what the test expects', async () => ((await isTrue()) ? true : undefined))
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
