import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../server/test/stage/harness.ts'
import { aFolder, LAUNCHER, lives } from './command-line.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** `npm start`, and the command that npm links, run by a Node that starts the installed one. */
const LAUNCHES = {
  npm: { command: ['npm', 'start', '--silent'], env: {} },
  launcher: {
    command: [process.execPath, LAUNCHER],
    env: {
      NODE_OPTIONS: `--import=${encodeURI(
        'data:text/javascript,if(process.argv[1].endsWith("postroad.js"))Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})',
      )}`,
    },
  },
} as const

let folder: Awaited<ReturnType<typeof aFolder>>
before(async () => {
  folder = await aFolder()
})
after(() => folder.remove())

type Supervised = {
  readonly launcherPid: number
  readonly serverPid: number
  readonly postgresPid: number
  readonly baseUrl: string
  /** Everything that the launcher and the server wrote, once no process has their outputs open. */
  readonly ended: Promise<string>
}

const left = new Set<number>()
afterEach(() => {
  for (const pid of left) if (lives(pid)) process.kill(pid, 'SIGKILL')
  left.clear()
})

async function supervised(name: keyof typeof LAUNCHES): Promise<Supervised> {
  const { command, env } = LAUNCHES[name]
  const child = spawn(command[0], command.slice(1), {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: folder.path, DATA_DIR: folder.path, PORT: '0', LOG_FORMAT: 'json', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stderr = text(child.stderr)
  let said = ''
  const started = new Promise<{ url: string; pid: number }>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const line = /^\{.*"event":"server\.started"\}$/m.exec(said)?.[0]
      if (line !== undefined) resolve(JSON.parse(line))
    })
  })
  const ended = once(child, 'close').then(async () => said + (await stderr))
  const { url, pid } = await Promise.race([started, ended.then((all) => assert.fail(`It did not start: ${all}`))])
  const postgresPid = Number(readFileSync(join(folder.path, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const launcherPid = child.pid ?? 0
  for (const one of [launcherPid, pid, postgresPid]) left.add(one)
  return { launcherPid, serverPid: pid, postgresPid, baseUrl: url, ended }
}

for (const [name, whose, signal] of [
  ['npm', 'launcher', 'SIGTERM'],
  ['npm', 'launcher', 'SIGINT'],
  ['npm', 'launcher', 'SIGHUP'],
  ['npm', 'launcher', 'SIGKILL'],
  ['npm', 'server', 'SIGTERM'],
  ['launcher', 'launcher', 'SIGTERM'],
  ['launcher', 'launcher', 'SIGINT'],
  ['launcher', 'launcher', 'SIGKILL'],
] as const) {
  const [of, to] = [name === 'npm' ? 'npm start' : 'the launcher', whose === 'server' ? 'the server' : 'it']
  test(`${of}: ${signal} to ${to} stops the server cleanly, and no process stays behind`, async () => {
    const { launcherPid, serverPid, postgresPid, baseUrl, ended } = await supervised(name)
    assert.notEqual(launcherPid, serverPid)
    assert.equal((await fetch(`${baseUrl}/readyz`)).status, 200)
    process.kill(whose === 'server' ? serverPid : launcherPid, signal)
    const said = await ended
    assert.match(said, /"event":"server\.stopping"/)
    assert.doesNotMatch(said, /"level":[56]0/)
    // A process without a parent closes its outputs a moment before it is gone.
    await eventually('the end of every process', () =>
      Promise.resolve([launcherPid, serverPid, postgresPid].some(lives) ? undefined : true),
    )
    await assert.rejects(fetch(`${baseUrl}/readyz`), 'the port is closed')
  })
}
