import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processorSeconds } from '../processes.ts'
import { median, nowMs } from '../statistics.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const WAYS = {
  'npm start': ['npm', 'start'],
  'the same without npm': [process.execPath, join(ROOT, 'packages/cli/bin/postroad.js'), 'start'],
} as const

type Steps = Readonly<Record<string, { readonly from_ms: number; readonly ms: number }>>
type Started = { readonly lineMs: number; readonly storedMs: number; readonly cpuMs: number; readonly steps: Steps }

/** The parts of a start from the bundle: until the address is printed, until the first 201, and the steps of the server. */
export async function start(stage: Stage): Promise<readonly Figure[]> {
  const found = new Map<string, Started[]>()
  for (let round = 0; round < stage.rounds; round += 1)
    for (const [way, command] of Object.entries(WAYS)) {
      const folder = await stage.folder()
      for (const state of ['a fresh folder', 'an existing folder']) {
        const name = `${way}, ${state}`
        found.set(name, [...(found.get(name) ?? []), await startOnce(command, folder)])
      }
    }
  stage.addTable({
    title: 'The parts of a start',
    head: [
      'Start',
      'first line, ms',
      'first 201, ms',
      'processor of the server, ms',
      ...STEPS.map((step) => `${step}, ms`),
    ],
    rows: [...found].map(([name, runs]) => [
      name,
      ...[
        median(runs.map(({ lineMs }) => lineMs)),
        median(runs.map(({ storedMs }) => storedMs)),
        median(runs.map(({ cpuMs }) => cpuMs)),
        ...STEPS.map((step) => median(runs.map(({ steps }) => steps[step]?.ms ?? NaN))),
      ].map((value) => value.toFixed(0)),
    ]),
  })
  return []
}

/** PostgreSQL starts while the rest loads. The other steps follow each other. */
const STEPS = ['postgres', 'load', 'schema', 'listen', 'endpoint'] as const

async function startOnce([file = '', ...args]: readonly string[], folder: string): Promise<Started> {
  const startedAt = nowMs()
  const child = spawn(file, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', DATA_DIR: folder, PORT: '0', LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const endpoint = heard(child.stdout, /Endpoint +(\S+)/)
  const log = heard(child.stdout, /(\{[^\n]*"server\.started"[^\n]*\})/)
  const url = await endpoint
  const lineMs = nowMs() - startedAt
  // oxlint-disable-next-line house/no-ambient -- a client of the real server
  const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
  if (response.status !== 201) throw new Error(`The first event got ${response.status}.`)
  const storedMs = nowMs() - startedAt
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the line of the log has this shape
  const { pid, steps } = JSON.parse(await log) as { pid: number; steps: Steps }
  const cpuMs = (await processorSeconds([pid])) * 1_000
  child.kill('SIGTERM')
  await gone
  return { lineMs, storedMs, cpuMs, steps }
}

/** The first match in what the stream says. */
function heard(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const match = pattern.exec(said)?.[1]
      if (match !== undefined) resolve(match)
    })
    stream.on('end', () => reject(new Error(`It ended: ${said}`)))
  })
}
