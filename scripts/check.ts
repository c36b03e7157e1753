import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

/**
 * Every check that does not run the product: types, lint, walls, unused code, documents. They take seconds and need no
 * database. A failing check prints its whole output; a passing check prints one line.
 */
const bin = (name: string): string => `node_modules/.bin/${name}`

/** The compiler remembers what it checked, so a second run checks only what has changed. */
const types = (project: string): readonly [string, ...string[]] => [
  bin('tsc'),
  '-p',
  project,
  '--noEmit',
  '--incremental',
  '--tsBuildInfoFile',
  `node_modules/.cache/types/${project.replaceAll('/', '-')}.tsbuildinfo`,
]

const CHECKS: readonly { readonly name: string; readonly command: readonly [string, ...string[]] }[] = [
  { name: 'types', command: types('tsconfig.json') },
  { name: 'console types', command: types('packages/console') },
  { name: 'format', command: [bin('oxfmt'), '--check', '.'] },
  { name: 'lint', command: [bin('oxlint'), 'packages', 'scripts'] },
  {
    name: 'walls',
    command: [process.execPath, bin('depcruise'), '--config', '.dependency-cruiser.cjs', 'packages', 'scripts'],
  },
  { name: 'unused', command: [bin('knip')] },
  { name: 'documents', command: [process.execPath, 'scripts/check-docs.ts'] },
  { name: 'words', command: [process.execPath, 'scripts/check-words.ts'] },
  { name: 'rooms', command: [process.execPath, 'scripts/check-rooms.ts'] },
  { name: 'console size', command: [process.execPath, 'scripts/check-console-size.ts'] },
  { name: 'settings', command: [process.execPath, 'scripts/docs-config.ts', '--check'] },
  { name: 'commands', command: [process.execPath, 'scripts/cli-rooms.ts', '--check'] },
  { name: 'guides', command: [process.execPath, 'scripts/docs-tables.ts', '--check'] },
]

type Result = { readonly name: string; readonly ok: boolean; readonly said: string; readonly seconds: number }

function run({ name, command }: (typeof CHECKS)[number]): Promise<Result> {
  const began = performance.now()
  const [file, ...args] = command
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, FORCE_COLOR: '0' } })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.on('close', (code) => resolve({ name, ok: code === 0, said, seconds: (performance.now() - began) / 1_000 }))
  })
}

const waiting = [...CHECKS]
const results: Result[] = []
await Promise.all(
  Array.from({ length: Math.max(2, Math.floor(availableParallelism() / 2)) }, async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const result = await run(check)
      results.push(result)
      console.log(`${result.ok ? 'ok    ' : 'FAILED'}  ${result.name}  ${result.seconds.toFixed(1)} s`)
      if (!result.ok) console.log(result.said)
    }
  }),
)
process.exitCode = results.every((result) => result.ok) ? 0 : 1
