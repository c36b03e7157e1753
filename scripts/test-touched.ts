import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { groupsInDepth } from './lanes.ts'

/**
 * Finds the groups that have changed since the last commit whose push lane was green in this clone. A file in Git's
 * folder names that commit.
 */
const GREEN = 'postroad-green'

/** Folders of the source whose names are not those of the groups that test them. */
const TESTED_BY: readonly (readonly [folder: RegExp, groups: readonly string[]])[] = [
  [/^packages\/server\/src\/pipeline\/(?:accept|route|store|types|verify)/, ['capture']],
  [/^packages\/server\/(?:src\/pipeline\/deliver|sim)\//, ['delivery']],
  [/^packages\/server\/src\/pipeline\/(?:workflow|agents)\//, ['automation']],
  [/^packages\/server\/src\/pipeline\/forward\//, ['serving']],
  [/^packages\/server\/src\/domain\/(?:json|routing|signature|templates)\//, ['capture', 'delivery']],
  [/^packages\/server\/src\/(?:app|commands|main|config|storage|context)/, ['operate', 'platform']],
  [/^packages\/server\/migrations\//, ['platform', 'workspace']],
  [/^packages\/console\/src\/(?:ui|shell|data|parts|main)/, ['shell']],
  [/^packages\/console\/src\/(?:portal|embed)\//, ['serving']],
]

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

/** The hash of the commit, or zeros outside a clone. */
export function commit(): string {
  try {
    return git('rev-parse', 'HEAD')
  } catch {
    return '0'.repeat(40)
  }
}

/** Says that the push lane of this commit is green, unless files differ from it. */
export function markGreen(): void {
  try {
    if (git('status', '--porcelain') === '') writeFileSync(git('rev-parse', '--git-path', GREEN), commit())
  } catch {
    // Outside a clone there is no commit to remember.
  }
}

export type Touched = { readonly groups: ReadonlySet<string>; readonly why: string }

/** The groups whose long behavior a push runs. A fresh clone knows no green commit: there, the seed chooses one group. */
export function touchedGroups(seed: number): Touched {
  const all = groupsInDepth()
  const changed = changedFiles()
  if (changed !== undefined) {
    const groups = new Set(changed.flatMap((file) => groupsOf(file, all)))
    return { groups, why: `${changed.length} files changed since the last green commit` }
  }
  return {
    groups: new Set([all[seed % all.length] ?? '']),
    why: 'this clone has no green commit yet, so the seed chose',
  }
}

/** The groups that test a file: those of its folders, and those that TESTED_BY names. */
export function groupsOf(file: string, all: readonly string[]): readonly string[] {
  const named = all.filter((group) => file.split('/').includes(group))
  return [...named, ...TESTED_BY.filter(([folder]) => folder.test(file)).flatMap(([, groups]) => groups)]
}

function changedFiles(): readonly string[] | undefined {
  try {
    const file = git('rev-parse', '--git-path', GREEN)
    if (!existsSync(file)) return undefined
    const since = readFileSync(file, 'utf8')
    const committed = git('diff', '--name-only', since)
    const added = git('ls-files', '--others', '--exclude-standard')
    return `${committed}\n${added}`.split('\n').filter((name) => name !== '')
  } catch {
    return undefined
  }
}
