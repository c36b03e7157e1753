import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/**
 * The cost of a new room: how many files that existed before it changes (docs/adr/0410). First it counts them for the last ten
 * rooms of the history. Then it adds a room to a copy of the repository, checks the types, and leaves out one line after
 * another, to show that the types name the room. `--history` does the first part alone.
 */
const ROUTES = 'packages/contract/src/routes/'
const ROOMS_COUNTED = 10

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 << 20 })
}

const isShared = (file: string): boolean =>
  /^packages\/(?:contract|server|cli)\/(?:src|test)\//.test(file) && !file.endsWith('table.json')

/** The commits that added a room, newest first. */
function roomsAdded(): readonly { readonly commit: string; readonly room: string }[] {
  const log = git('log', '-M', '--diff-filter=A', '--format=%x00%h', '--name-only', '--', ROUTES)
  const added = log.split('\0').flatMap((part) => {
    const [commit = '', ...files] = part.split('\n').filter(Boolean)
    const rooms = files.filter((file) => /\/[a-z-]+\.ts$/.test(file) && !file.endsWith('/index.ts'))
    // A commit with many of them moves or splits the contract.
    return rooms.length > 0 && rooms.length < 5 ? [{ commit, room: rooms.map(nameOf).join(', ') }] : []
  })
  return added.slice(0, ROOMS_COUNTED)
}

const nameOf = (file: string): string => file.slice(ROUTES.length).replace(/\.ts$/, '')

for (const { commit, room } of roomsAdded()) {
  const changed = git('show', '-M', '--diff-filter=M', '--format=', '--name-only', commit).split('\n').filter(isShared)
  console.log(`${commit}  ${String(changed.length).padStart(3)} shared files  ${room}`)
}

/** The folders of the room. */
const FILES: Readonly<Record<string, string>> = {
  'packages/contract/src/routes/serving/samples.ts': `import { z } from 'zod'
import { idOutput } from '../../ids.ts'
import { ListQuery, listOf } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'

export const Sample = z.object({ id: idOutput('sample'), name: z.string() })

export const samples = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'samples',
    summary: 'List samples',
    description: 'The samples of the project.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('samples', Sample),
  }),
} as const
`,
  'packages/contract/src/routes/serving/samples.about.ts': `import type { About } from '../../about.ts'
import { Sample, type samples } from './samples.ts'

export const about = {
  text: 'Samples.',
  refusals: { list: ['search_timed_out'] },
  schemas: { Sample },
  members: { Sample: { name: 'One' } },
} satisfies About<typeof samples>
`,
  'packages/server/src/resources/serving/samples/about.ts': `import type { About } from '../../about.ts'

export const about = {
  tables: { samples: { exported: 'samples', sealed: ['secret'], unconfigured: { kind: 'sample' } } },
} as const satisfies About
`,
  'packages/server/src/resources/serving/samples/index.ts': `import type { Room } from '../../verbs.ts'
import { secretPlace } from '../../secret-place.ts'

export const placeOf = (id: string): string => secretPlace('samples.secret', id)

export const samples: Room<'samples'> = {
  list: async () => ({ samples: [], next_cursor: null }),
}
`,
  'packages/server/test/serving/samples.examples.ts': `import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('samples', { list: () => ({}) })
`,
}

type Line = { readonly file: string; readonly before: string; readonly line: string }

/** The lines of the room in shared files, each before a line that is there. */
const LINES: readonly Line[] = [
  { file: 'packages/contract/src/id-text.ts', before: "  portal: 'prt',", line: "  sample: 'smp'," },
  ...["import { about as aboutSamples } from './samples.about.ts'", "import { samples } from './samples.ts'"].map(
    (line) => ({ file: `${ROUTES}serving/index.ts`, before: "import { search } from './search.ts'", line }),
  ),
  { file: `${ROUTES}serving/index.ts`, before: '  search,', line: '  samples,' },
  { file: `${ROUTES}serving/index.ts`, before: '  search: aboutSearch,', line: '  samples: aboutSamples,' },
  {
    file: 'packages/server/src/resources/serving/index.ts',
    before: "import { search } from './search/index.ts'",
    line: "import { samples } from './samples/index.ts'",
  },
  { file: 'packages/server/src/resources/serving/index.ts', before: '  search,', line: '  samples,' },
  {
    file: 'packages/server/src/resources/tables.ts',
    before: "import { about as stream } from './serving/stream/about.ts'",
    line: "import { about as samples } from './serving/samples/about.ts'",
  },
  { file: 'packages/server/src/resources/tables.ts', before: '  stream,', line: '  samples,' },
  {
    file: 'packages/server/src/resources/workspace/data-export/contents.ts',
    before: "import { dataKeys } from '../../serving/data-keys/index.ts'",
    line: "import { samples } from '../../serving/samples/index.ts'",
  },
  {
    file: 'packages/server/src/resources/workspace/data-export/contents.ts',
    before: '  monthly_usage: usageLines,',
    line: "  samples: ofProjects(samples, 'samples'),",
  },
]

/** The types of the copy: the errors of the compiler, one a line. */
function typeErrors(copy: string): readonly string[] {
  const { stdout } = spawnSync(
    join(copy, 'node_modules/.bin/tsc'),
    ['-p', 'tsconfig.room.json', '--noEmit', '--incremental', '--tsBuildInfoFile', 'room.tsbuildinfo'],
    { cwd: copy, encoding: 'utf8' },
  )
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}

function write(copy: string, file: string, text: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true })
  writeFileSync(join(copy, file), text)
}

/** Adds the lines to their files, except for those of one file. */
function addLines(copy: string, without?: string): void {
  for (const [file, lines] of Map.groupBy(LINES, (line) => line.file)) {
    const original = readFileSync(file, 'utf8')
    const changed = lines.reduce((text, { before, line }) => {
      if (!text.includes(`${before}\n`))
        throw new Error(`${file} has no line "${before}". Correct scripts/room-cost.ts.`)
      return text.replace(`${before}\n`, `${line}\n${before}\n`)
    }, original)
    write(copy, file, file === without ? original : changed)
  }
}

/** The tracked files, with the modules of this repository and the packages of the copy. */
function copyOf(): string {
  const copy = mkdtempSync(join(tmpdir(), 'postroad-room-'))
  for (const file of git('ls-files').split('\n').filter(Boolean))
    if (/^packages\/.*\.(?:tsx?|json)$|^tsconfig/.test(file)) cpSync(file, join(copy, file))
  mkdirSync(join(copy, 'node_modules/@postroad'), { recursive: true })
  for (const name of readdirSync('node_modules'))
    if (name !== '@postroad') symlinkSync(resolve('node_modules', name), join(copy, 'node_modules', name))
  for (const name of readdirSync('packages'))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@postroad', name))
  const include = [
    'packages/{contract,server}/src/**/*.ts',
    'packages/server/test/stage/*.ts',
    'packages/server/test/*/*.examples.ts',
  ]
  write(
    copy,
    'tsconfig.room.json',
    JSON.stringify({ extends: './tsconfig.base.json', include: include.flatMap(braced), exclude: ['**/*.test.ts'] }),
  )
  return copy
}

const braced = (pattern: string): readonly string[] =>
  pattern.includes('{') ? ['contract', 'server'].map((name) => pattern.replace('{contract,server}', name)) : [pattern]

function prove(copy: string): void {
  for (const [file, text] of Object.entries(FILES)) write(copy, file, text)
  addLines(copy)
  const errors = typeErrors(copy)
  console.log(errors.length === 0 ? 'The types accept the room.' : errors.join('\n'))
  const files = [...new Set(LINES.map(({ file }) => file))]
  console.log(
    `A room with a table, a secret and an export: ${Object.keys(FILES).length} files of its own, ${files.length} shared files, ${LINES.length} lines in them.`,
  )
  let missed = errors.length
  for (const file of files) {
    addLines(copy, file)
    const [first] = typeErrors(copy).filter((error) => /sample/i.test(error))
    if (first === undefined) missed += 1
    console.log(
      `${first === undefined ? 'MISSED' : 'caught'}  without its lines in ${file}: ${first ?? 'no error names the room'}`,
    )
  }
  process.exitCode = missed === 0 ? 0 : 1
}

if (!process.argv.includes('--history')) {
  const copy = copyOf()
  try {
    prove(copy)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
