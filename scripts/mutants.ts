import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { filesOf, groupOf, groupsInDepth } from './lanes.ts'
import { groupsOf } from './test-touched.ts'

/**
 * `node scripts/mutants.ts --seed 7 --mutants 20` plants random faults of one line in `packages/server/src`, one at a time, in
 * a separate worktree, and prints which lane catches each. `--lanes unit,near,test,push,night` are tried in this order, each up
 * to its first failure; `near` has the normal and extended files of the touched groups. `--list` only prints the faults.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    mutants: { type: 'string', default: '20' },
    lanes: { type: 'string', default: 'unit,near,push,night' },
    list: { type: 'boolean', default: false },
  },
})

type Fault = {
  readonly file: string
  readonly line: number
  readonly from: string
  readonly to: string
  readonly at: number
}

const SWAPPED: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
}

/** Mulberry32: the same seed plants the same faults. */
function drawing(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Every place of a file where one token can be replaced: an operator, a boolean, a 0 or 1, or a condition. */
function faultsIn(file: string): readonly Fault[] {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: Fault[] = []
  const add = (node: ts.Node, to: string): void => {
    const at = node.getStart(source)
    found.push({ file, at, line: source.getLineAndCharacterOfPosition(at).line + 1, from: node.getText(source), to })
  }
  const visit = (node: ts.Node): void => {
    const swapped = ts.isBinaryExpression(node) ? SWAPPED[node.operatorToken.getText(source)] : undefined
    if (ts.isBinaryExpression(node) && swapped !== undefined) add(node.operatorToken, swapped)
    if (node.kind === ts.SyntaxKind.TrueKeyword && !ts.isLiteralTypeNode(node.parent)) add(node, 'false')
    if (node.kind === ts.SyntaxKind.FalseKeyword && !ts.isLiteralTypeNode(node.parent)) add(node, 'true')
    if (ts.isNumericLiteral(node) && !ts.isLiteralTypeNode(node.parent) && Number(node.text) < 2)
      add(node, `${Number(node.text) + 1}`)
    if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText(source)})`)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function chosen(count: number, seed: number): readonly Fault[] {
  const draw = drawing(seed)
  const files = globSync('packages/server/src/**/*.ts')
    .filter((file) => !file.endsWith('.test.ts'))
    .toSorted()
  const all = files.flatMap(faultsIn)
  return Array.from({ length: count }, () => all[Math.floor(draw() * all.length)]).filter(
    (fault) => fault !== undefined,
  )
}

type Caught = { readonly lane: string; readonly seconds: number; readonly by: string }

/** The words after `node scripts/test.ts.js` that run a lane; undefined when the lane has no file for this fault. */
function wordsOf(lane: string, { file }: Fault): readonly string[] | undefined {
  if (lane === 'test') return []
  if (lane === 'night') return ['--night', '--rounds', '1']
  if (lane !== 'near') return [`--${lane}`]
  const groups = groupsOf(file, groupsInDepth())
  const near = [...filesOf('normal'), ...filesOf('extended')].filter(
    (test) => test.startsWith('packages/server/') && groups.includes(groupOf(test)),
  )
  return near.length === 0 ? undefined : near
}

/** Runs tests until the first failure; undefined when all pass. */
function firstFailure(folder: string, tests: readonly string[]): Promise<string | undefined> {
  const words = ['scripts/test.ts.js', ...tests]
  const child = spawn(process.execPath, words, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  return new Promise((done) => {
    let said = ''
    const read = (chunk: Buffer): void => {
      said += chunk.toString()
      const failed = /^FAILED +(.+)$/m.exec(said)
      if (failed === null || child.pid === undefined) return
      done(failed[1])
      process.kill(-child.pid, 'SIGTERM')
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', (code) => done(code === 0 ? undefined : (said.trim().split('\n').at(-1) ?? 'it did not start')))
  })
}

async function caughtBy(fault: Fault, folder: string): Promise<Caught | undefined> {
  const file = join(folder, fault.file)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, `${text.slice(0, fault.at)}${fault.to}${text.slice(fault.at + fault.from.length)}`)
  const began = performance.now()
  try {
    for (const lane of values.lanes.split(',')) {
      const tests = wordsOf(lane, fault)
      if (tests === undefined) continue
      // oxlint-disable-next-line no-await-in-loop -- a later lane only when the earlier ones pass
      const by = await firstFailure(folder, tests)
      if (by !== undefined) return { lane, by, seconds: (performance.now() - began) / 1_000 }
    }
    return undefined
  } finally {
    writeFileSync(file, text)
  }
}

const faults = chosen(Number(values.mutants), Number(values.seed))
const nameOf = ({ file, line, from, to }: Fault): string =>
  `${file.replace('packages/server/src/', '')}:${line}  ${from.replaceAll(/\s+/g, ' ').slice(0, 40)} → ${to.replaceAll(/\s+/g, ' ').slice(0, 42)}`

function verdictOf(caught: Caught | undefined): string {
  return caught === undefined ? 'NOT CAUGHT' : `${caught.lane}, ${caught.seconds.toFixed(0)} s, ${caught.by}`
}

if (values.list) for (const fault of faults) console.log(nameOf(fault))
else {
  const folder = join(mkdtempSync(join(tmpdir(), 'postroad-mutants-')), 'tree')
  // Under root, PostgreSQL runs as another user, who reads its files here.
  chmodSync(join(folder, '..'), 0o755)
  execFileSync('git', ['worktree', 'add', '--detach', folder], { stdio: 'ignore' })
  for (const installed of globSync(['node_modules', 'packages/*/node_modules']))
    cpSync(installed, join(folder, installed), { recursive: true, verbatimSymlinks: true })
  try {
    const verdicts: (Caught | undefined)[] = []
    for (const fault of faults) {
      // oxlint-disable-next-line no-await-in-loop -- one fault at a time
      verdicts.push(await caughtBy(fault, folder))
      console.log(`${nameOf(fault)}\n    ${verdictOf(verdicts.at(-1))}`)
    }
    console.log(`\n${verdicts.filter((caught) => caught !== undefined).length} of ${faults.length} faults caught`)
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', folder])
    rmSync(join(folder, '..'), { recursive: true, force: true })
  }
}
