import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/**
 * The cost of a new room: how many files that existed before it changes (docs/adr/0410). First it counts them for the last ten
 * rooms of the history. Then it adds a room to a copy of the repository, checks the types, and leaves out the lines of one
 * file or another, to show that the types name the room. `--history` does the first part alone.
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

/** Files whose lines are left out together, each with the error that says so. A file that hides the error of another is in another set. */
const OMITTED: readonly Readonly<Record<string, RegExp>>[] = [
  {
    'packages/contract/src/id-text.ts': /routes\/serving\/samples\.ts.*"sample"/,
    'packages/server/src/resources/serving/index.ts': /resources\/serving\/index\.ts.*'samples'/,
    'packages/server/src/resources/workspace/data-export/contents.ts': /contents\.ts.*'samples'/,
  },
  {
    [`${ROUTES}serving/index.ts`]: /samples\.examples\.ts.*"samples"/,
    'packages/server/src/resources/tables.ts': /"samples\.secret"/,
  },
]

/** The errors of the compiler in the copy, one a line. */
function typeErrors(copy: string): readonly string[] {
  const { stdout } = spawnSync(join(copy, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.room.json'], {
    cwd: copy,
    encoding: 'utf8',
  })
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}

function write(copy: string, file: string, text: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true })
  writeFileSync(join(copy, file), text)
}

/** Adds the lines to their files, except for those of some files. */
function addLines(copy: string, without: readonly string[] = []): void {
  for (const [file, lines] of Map.groupBy(LINES, (line) => line.file)) {
    const original = readFileSync(file, 'utf8')
    const changed = lines.reduce((text, { before, line }) => {
      if (!text.includes(`${before}\n`))
        throw new Error(`${file} has no line "${before}". Correct scripts/room-cost.ts.`)
      return text.replace(`${before}\n`, `${line}\n${before}\n`)
    }, original)
    write(copy, file, without.includes(file) ? original : changed)
  }
}

/** The tracked sources, with the modules of this repository and the packages of the copy. */
function copyOf(): string {
  const copy = mkdtempSync(join(tmpdir(), 'postroad-room-'))
  for (const file of git('ls-files').split('\n').filter(Boolean))
    if (/^packages\/.*\.(?:ts|json)$|^tsconfig/.test(file)) cpSync(file, join(copy, file))
  mkdirSync(join(copy, 'node_modules/@postroad'), { recursive: true })
  for (const name of readdirSync('node_modules'))
    if (name !== '@postroad') symlinkSync(resolve('node_modules', name), join(copy, 'node_modules', name))
  for (const name of readdirSync('packages'))
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@postroad', name))
  const files = [
    'packages/contract/src/openapi/index.ts',
    'packages/server/src/resources/index.ts',
    'packages/server/test/serving/samples.examples.ts',
  ]
  write(copy, 'tsconfig.room.json', JSON.stringify({ extends: './tsconfig.base.json', files }))
  return copy
}

/** Counts the shared files of the room, and returns how many of its lines the types do not require. */
function missedBy(copy: string): number {
  for (const [file, text] of Object.entries(FILES)) write(copy, file, text)
  addLines(copy)
  const errors = typeErrors(copy)
  console.log(errors.length === 0 ? 'The types accept the room.' : errors.join('\n'))
  const shared = new Set(LINES.map(({ file }) => file)).size
  console.log(`A room with a table, a secret and an export: ${shared} shared files, ${LINES.length} lines in them`)
  let missed = errors.length
  for (const omitted of OMITTED) {
    addLines(copy, Object.keys(omitted))
    const found = typeErrors(copy)
    for (const [file, expected] of Object.entries(omitted)) {
      const named = found.find((error) => expected.test(error))
      missed += named === undefined ? 1 : 0
      console.log(`  without its lines in ${file}: ${named ?? 'no error names the room'}`)
    }
  }
  return missed
}

if (!process.argv.includes('--history')) {
  const copy = copyOf()
  try {
    process.exitCode = missedBy(copy) === 0 ? 0 : 1
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
