import assert from 'node:assert/strict'
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { run as runCommand } from '../src/run.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** The file that npm links as `postroad`. */
export const LAUNCHER = fileURLToPath(new URL('../bin/postroad.js', import.meta.url))

/** The compiled modules of earlier runs, which halve the time of the processes that the tests start. */
const COMPILED = process.env['NODE_COMPILE_CACHE']
/** The profiles of the tests of one process. */
const CONFIG = mkdtempSync(join(tmpdir(), 'postroad-cli-config-'))
process.on('exit', () => rmSync(CONFIG, { recursive: true, force: true }))

export type Environment = Readonly<Record<string, string>>
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** The environment of this process without any Postroad variable, and with the PATH. */
const environmentOf = (env: Environment): Environment => ({
  PATH: process.env['PATH'] ?? '',
  LOG_LEVEL: 'warn',
  ADMIN_REQUESTS_MAX: '0',
  ...(COMPILED === undefined ? {} : { NODE_COMPILE_CACHE: COMPILED }),
  // Hides the profiles of the developer.
  POSTROAD_CONFIG_DIR: CONFIG,
  ...env,
})

/** Runs a command in this process, 80 columns wide: this is fast, and a test can run many commands together. */
export function run(args: readonly string[], env: Environment, input = ''): Promise<Ended> {
  return runOn(args, { env, input, isTTY: false, columns: 80 })
}

export function runAtTerminal(args: readonly string[], env: Environment, input = ''): Promise<Ended> {
  return runOn(args, { env, input, isTTY: true, columns: 80 })
}

/** Runs a command whose output another program reads. */
export function runPiped(args: readonly string[], env: Environment): Promise<Ended> {
  return runOn(args, { env, input: '', isTTY: false })
}

type On = { readonly env: Environment; readonly input: string; readonly isTTY: boolean; readonly columns?: number }

async function runOn(args: readonly string[], { env, input, isTTY, columns }: On): Promise<Ended> {
  const stdout = Object.assign(new PassThrough(), { isTTY, ...(columns === undefined ? {} : { columns }) })
  const stderr = Object.assign(new PassThrough(), { isTTY })
  const said = Promise.all([text(stdout), text(stderr)])
  const code = await runCommand(args, {
    env: environmentOf(env),
    stdin: Object.assign(Readable.from([input]), { isTTY }),
    stdout,
    stderr,
  })
  stdout.end()
  stderr.end()
  const [out, err] = await said
  return { code, stdout: out, stderr: err }
}

/** A command under way. */
export type Running = {
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
  readonly ended: Promise<number | null>
  signal(name: NodeJS.Signals): void
  /** Ends the command without waiting for its work. */
  kill(): void
}

/** Starts a command in this process. A signal reaches only this command. */
export function beginHere(args: readonly string[], env: Environment): Running {
  const [stdout, stderr, signals] = [new PassThrough(), new PassThrough(), new EventEmitter()]
  const ended = runCommand(args, { env: environmentOf(env), stdin: Readable.from([]), stdout, stderr, signals })
  void ended.then(() => {
    stdout.end()
    stderr.end()
  })
  const signal = (name: NodeJS.Signals): void => void signals.emit(name)
  const kill = (): void => {
    signal('SIGINT')
    // The second Ctrl-C ends requests under way.
    signal('SIGINT')
  }
  return { pid: process.pid, stdout, stderr, ended, signal, kill }
}

/** Starts a command in a separate process. */
export function beginProcess(args: readonly string[], env: Environment): Running {
  const child = begin(args, env)
  const { pid = 0, stdout, stderr } = child
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  const signal = (name: NodeJS.Signals): void => void child.kill(name)
  return { pid, stdout, stderr, ended, signal, kill: () => signal('SIGKILL') }
}

/**
 * Runs the command line in a separate process, for commands that become the server and for tests of the process itself.
 */
export function begin(args: readonly string[], env: Environment, program = MAIN): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [program, ...args], { env: environmentOf(env), stdio: 'pipe' })
}

export function runProcess(args: readonly string[], env: Environment, input = ''): Promise<Ended> {
  return endOf(begin(args, env), input)
}

/** Does the same through the launcher. */
export function launch(args: readonly string[], env: Environment): Promise<Ended> {
  return endOf(begin(args, env, LAUNCHER), '')
}

async function endOf(child: ChildProcessWithoutNullStreams, input: string): Promise<Ended> {
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

export type Started = {
  readonly pid: number
  readonly postgresPid: number
  /** The text that the command printed up to the third line. */
  readonly welcome: string
  readonly baseUrl: string
  readonly endpoint: string
  /** Everything that it wrote to its standard output so far. */
  said(): string
  /** Everything that it wrote to its standard output so far. */
  said(): string
  signal(name: NodeJS.Signals): void
  /** The exit code, and the text that the command wrote to stderr. */
  readonly ended: Promise<Ended>
}

const running = new Set<Started>()

/** Stops the servers that a failed test left running. */
export async function stopServers(): Promise<void> {
  for (const server of running) server.signal('SIGTERM')
  await Promise.all([...running].map(({ ended }) => ended))
}

/** Runs `postroad start` on a free port; resolves once it has printed its three lines. */
export async function startServer(dataDir: string, env: Environment = {}): Promise<Started> {
  const child = begin(['start'], { DATA_DIR: dataDir, PORT: '0', ...env })
  let stdout = ''
  const stderr = text(child.stderr)
  const ended = once(child, 'close').then(async ([code]) => ({ code, stdout, stderr: await stderr }))
  const said = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      if (stdout.includes('Try it')) resolve()
    })
  })
  await Promise.race([said, ended.then((end) => Promise.reject(new Error(`It ended with ${end.code}: ${end.stderr}`)))])
  const endpoint = new URL(/Endpoint +(\S+)/.exec(stdout)?.[1] ?? '')
  const server: Started = {
    pid: child.pid ?? 0,
    postgresPid: Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]),
    welcome: stdout,
    baseUrl: endpoint.origin,
    endpoint: endpoint.href,
    said: () => stdout,
    signal: (name) => child.kill(name),
    ended,
  }
  running.add(server)
  void ended.then(() => running.delete(server))
  return server
}

/** Whether a process with this id is alive. */
export function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A folder that is removed after the test. */
export async function aFolder(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'postroad-cli-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** A destination on a free port that answers every request with this status. */
export async function aDestination(
  status: number,
  body = '',
): Promise<{ readonly url: string; readonly port: number; stop(): void }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this shape
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, port, stop: () => server.close().closeAllConnections() }
}

/** Asserts that a command fails with a clean message and no stack trace of our code. */
export function refused(end: Ended, wanted: { code: number; stderr: RegExp }): void {
  assert.equal(end.code, wanted.code, end.stderr)
  assert.equal(end.stdout, '')
  assert.match(end.stderr, wanted.stderr)
  assert.doesNotMatch(end.stderr, /\n {4}at /)
}
