import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const S = 'packages/server/src'
const R = `${S}/resources`
const C = 'packages/console/src'

/** A tree with the file names of this one, and with no content but the imports that a test plants. */
function aTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-walls-'))
  for (const name of [
    '.dependency-cruiser.cjs',
    '.oxlintrc.json',
    'tsconfig.json',
    'tsconfig.base.json',
    'package.json',
  ])
    cpSync(join(ROOT, name), join(folder, name))
  cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
  cpSync(join(ROOT, 'packages/server/migrations'), join(folder, 'packages/server/migrations'), { recursive: true })
  for (const name of ['undici', 'postgres', 'stripe']) {
    write(folder, `node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
    write(folder, `node_modules/${name}/index.js`, 'module.exports = {}\n')
  }
  return folder
}

function write(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

/** The importing file, the imported file, and whether a wall separates them. */
const FORBIDDEN: readonly (readonly [from: string, to: string])[] = [
  [`${C}/parts/a.ts`, `${C}/screens/capture/events/screen.tsx`],
  [`${C}/shell/a.ts`, `${C}/parts/choice.tsx`],
  [`${C}/data/a.ts`, `${C}/parts/choice.tsx`],
  [`${C}/data/b.ts`, `${C}/screens/capture/events/screen.tsx`],
  [`${C}/ui/a.ts`, `${C}/data/ask.ts`],
  [`${C}/screens/capture/events/a.ts`, `${C}/screens/capture/rules/screen.tsx`],
  [`${C}/screens/capture/events/b.ts`, `${C}/screens/home/screen.tsx`],
  [`${C}/data/c.ts`, `${S}/app.ts`],
  [`${C}/portal/a.ts`, `${C}/data/ask.ts`],
  [`${C}/portal/screens/b.ts`, `${C}/parts/choice.tsx`],
  [`${C}/screens/serving/portals/a.ts`, `${C}/portal/data/server.ts`],
  [`${C}/embed/a.ts`, `${C}/ui/accent.ts`],
  ['packages/cli/src/a.ts', `${S}/app.ts`],
  ['packages/cli/src/b.ts', `${C}/data/ask.ts`],
  ['packages/sdk/src/a.ts', `${S}/app.ts`],
  ['packages/sdk/src/b.ts', 'packages/contract/src/index.ts'],
  ['packages/contract/src/a.ts', 'packages/sdk/src/index.ts'],
  ['packages/verify/src/a.ts', 'packages/contract/src/index.ts'],
  [`${S}/tasks/a.ts`, `${S}/platform/db.ts`],
  [`${S}/tasks/b.ts`, `${R}/capture/rules/index.ts`],
  [`${S}/app/b.ts`, `${S}/tasks/index.ts`],
  [`${R}/capture/rules/a.ts`, `${S}/storage.ts`],
  [`${R}/capture/rules/b.ts`, `${S}/pipeline/accept.ts`],
  [`${R}/capture/rules/c.ts`, `${S}/surfaces/http.ts`],
  [`${R}/capture/rules/d.ts`, `${S}/workers/upkeep.ts`],
  [`${R}/capture/rules/e.ts`, `${R}/capture/webhooks/create.ts`],
  [`${R}/capture/rules/f.ts`, `${R}/delivery/destinations/queries.ts`],
  [`${R}/capture/rules/g.ts`, 'node:https'],
  [`${R}/capture/rules/h.ts`, 'node:net'],
  [`${R}/capture/rules/i.ts`, 'undici'],
  [`${R}/capture/rules/j.ts`, 'postgres'],
  [`${R}/workspace/billing/a.ts`, 'stripe'],
  [`${S}/pipeline/a.ts`, `${R}/capture/webhooks/create.ts`],
  [`${S}/pipeline/b.ts`, `${S}/surfaces/http.ts`],
  [`${S}/pipeline/c.ts`, 'packages/server/sim/world.ts'],
  [`${S}/workers/a.ts`, `${R}/capture/webhooks/create.ts`],
  [`${S}/workers/b.ts`, `${S}/pipeline/deliver/machine.ts`],
  [`${S}/pipeline/route/a.ts`, `${S}/pipeline/store/commit.ts`],
  [`${S}/pipeline/deliver/machine.ts`, `${S}/platform/clock.ts`],
  [`${S}/pipeline/deliver/turns.ts`, `${S}/pipeline/deliver/run.ts`],
  [`${S}/surfaces/a.ts`, `${S}/surfaces/admin/ladder.ts`],
  [`${S}/surfaces/ingest/a.ts`, `${S}/surfaces/admin/ladder.ts`],
  [`${S}/surfaces/ingest/b.ts`, `${S}/pipeline/store/commit.ts`],
  [`${S}/surfaces/admin/a.ts`, `${R}/capture/rules/queries.ts`],
  [`${S}/surfaces/admin/b.ts`, `${S}/surfaces/admin/queries.ts`],
  [`${S}/platform/a.ts`, `${S}/context.ts`],
  [`${S}/domain/routing/a.ts`, `${S}/platform/clock.ts`],
  [`${S}/domain/routing/b.ts`, 'node:fs'],
  [`${S}/b.ts`, 'packages/server/chaos/main.ts'],
  [`${S}/c.ts`, 'packages/server/test/stage/harness.ts'],
]

const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  [`${C}/screens/capture/events/ok.ts`, `${C}/parts/choice.tsx`],
  [`${C}/parts/ok.ts`, `${C}/shell/keys.ts`],
  [`${C}/portal/ok.ts`, `${C}/ui/accent.ts`],
  [`${R}/capture/rules/ok.ts`, `${R}/capture/webhooks/index.ts`],
  [`${R}/capture/rules/ok2.ts`, `${S}/platform/db.ts`],
  [`${S}/pipeline/ok.ts`, `${R}/capture/webhooks/index.ts`],
  [`${S}/workers/ok.ts`, `${R}/capture/rules/queries.ts`],
  [`${S}/surfaces/admin/ok.ts`, `${S}/surfaces/http.ts`],
  [`${S}/pipeline/deliver/leases.ts`, `${S}/domain/routing/condition.ts`],
  [`${S}/ok.ts`, 'node:https'],
]

/** Whether a rule refuses a file. */
function lint(folder: string, path: string, rule: string): (file: string) => boolean {
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), ['--format', 'unix', path], {
    cwd: folder,
    encoding: 'utf8',
  })
  return (file) => stdout.split('\n').some((line) => line.includes(file) && line.includes(rule))
}

const isPackage = (to: string): boolean => to.startsWith('node:') || !to.includes('/')

describe('walls', () => {
  const folder = aTree()
  after(() => rmSync(folder, { recursive: true }))

  test('an import through each wall is refused, and an import by a door is not', () => {
    for (const [, to] of [...FORBIDDEN, ...ALLOWED]) if (!isPackage(to)) write(folder, to, 'export const x = 1\n')
    for (const [from, to] of [...FORBIDDEN, ...ALLOWED]) {
      const path = isPackage(to) ? to : relative(dirname(from), to).replace(/^(?!\.)/, './')
      write(folder, from, `import * as x from '${path}'\nexport const y = x\n`)
    }
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [
        join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
        '--config',
        '.dependency-cruiser.cjs',
        '--output-type',
        'json',
        'packages',
      ],
      { cwd: folder, encoding: 'utf8', maxBuffer: 64_000_000 },
    )
    assert.notEqual(stdout, '', stderr)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form of dependency-cruiser's report
    const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string }[] } }
    const caught = new Set(summary.violations.map(({ from }) => from))
    assert.deepEqual(
      FORBIDDEN.filter(([from]) => !caught.has(from)),
      [],
    )
    assert.deepEqual(
      ALLOWED.filter(([from]) => caught.has(from)),
      [],
    )
  })

  test('each house rule refuses the code that it exists for', () => {
    const planted: Readonly<Record<string, string>> = {
      [`${R}/capture/rules/timer.ts`]: 'export const a = (f: () => void) => setTimeout(f, 1)\n',
      [`${R}/capture/rules/global-timer.ts`]: 'export const a = (f: () => void) => globalThis.setTimeout(f, 1)\n',
      [`${R}/capture/rules/sleep.ts`]:
        "import { setTimeout } from 'node:timers/promises'\nexport const a = setTimeout\n",
      [`${R}/capture/rules/watch.ts`]: 'export const a = performance.now()\n',
      [`${R}/capture/rules/uuid.ts`]: "import { randomUUID } from 'node:crypto'\nexport const a = randomUUID\n",
      [`${R}/capture/rules/fetch.ts`]: "export const a = () => fetch('http://127.0.0.1')\n",
      [`${R}/capture/rules/global-fetch.ts`]: "export const a = () => globalThis.fetch('http://127.0.0.1')\n",
      [`${R}/capture/rules/now.ts`]: 'export const a = Date.now()\n',
      [`${R}/capture/rules/raw.ts`]:
        'export const a = (ctx: { db: { run(x: unknown): unknown } }) => ctx.db.run({ strings: [], values: [] })\n',
      [`${R}/capture/rules/tag.ts`]:
        'declare const sql: (x: TemplateStringsArray) => unknown\nexport const a = sql`select 1`\n',
      [`${R}/capture/other/queries.ts`]:
        'declare const sql: (x: TemplateStringsArray) => unknown\nexport const a = sql`select id from records`\n',
      [`${R}/capture/rules/unaudited.ts`]:
        'declare const inTransaction: (c: unknown, f: () => void) => void\nexport const a = () => inTransaction(1, () => undefined)\n',
    }
    for (const [file, text] of Object.entries(planted)) write(folder, file, text)
    const clean = `${R}/capture/clean/queries.ts`
    write(
      folder,
      clean,
      'declare const sql: (x: TemplateStringsArray) => unknown\nexport const a = sql`select id from records where workspace_id = 1`\n',
    )
    const caught = lint(folder, R, 'house')
    assert.deepEqual(
      Object.keys(planted).filter((file) => !caught(file)),
      [],
    )
    assert.equal(caught(clean), false)
  })

  test('only the guarded socket dials', () => {
    const D = `${S}/platform/dials`
    const planted: Readonly<Record<string, string>> = {
      [`${D}/net.ts`]: "import { connect } from 'node:net'\nexport const a = connect\n",
      [`${D}/again.ts`]: "import { createConnection as dial } from 'node:net'\nexport const a = dial\n",
      [`${D}/socket.ts`]: "import { Socket } from 'node:net'\nexport const a = new Socket().connect(1)\n",
      [`${D}/all.ts`]: "import * as net from 'node:net'\nexport const a = net.connect\n",
      [`${D}/default.ts`]: "import net from 'node:net'\nexport const a = net.connect\n",
      [`${D}/tls.ts`]: "import { connect } from 'node:tls'\nexport const a = connect\n",
      [`${D}/http.ts`]: "import { request } from 'node:http'\nexport const a = request\n",
      [`${D}/https.ts`]: "import { get } from 'node:https'\nexport const a = get\n",
    }
    const fine: Readonly<Record<string, string>> = {
      [`${D}/address.ts`]: "import { isIP, type Socket } from 'node:net'\nexport const a = (_: Socket) => isIP('')\n",
      [`${S}/platform/guarded/planted.ts`]: "import { connect } from 'node:net'\nexport const a = connect\n",
    }
    for (const [file, text] of Object.entries({ ...planted, ...fine })) write(folder, file, text)
    const caught = lint(folder, `${S}/platform`, 'no-restricted-imports')
    assert.deepEqual(
      Object.keys({ ...planted, ...fine }).filter((file) => caught(file)),
      Object.keys(planted),
    )
  })

  test('two rooms that use each other are refused, even where no file closes the cycle', () => {
    const rooms = mkdtempSync(join(tmpdir(), 'postroad-rooms-'))
    try {
      write(rooms, 'packages/contract/src/routes/capture/rules.ts', '')
      write(rooms, `${R}/capture/rules/index.ts`, '')
      write(rooms, `${R}/capture/rules/one.ts`, "import { a } from '../webhooks/index.ts'\n")
      write(rooms, `${R}/capture/webhooks/index.ts`, 'export const a = 1\n')
      const check = (): string => {
        const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/check-rooms.ts')], {
          cwd: rooms,
          encoding: 'utf8',
        })
        return status === 0 ? '' : stderr
      }
      assert.equal(check(), '')
      write(rooms, `${R}/capture/webhooks/other.ts`, "import { b } from '../rules/index.ts'\n")
      assert.match(check(), /cycle: capture\/\w+ → capture\/\w+ → capture\/\w+/)
    } finally {
      rmSync(rooms, { recursive: true })
    }
  })
})
