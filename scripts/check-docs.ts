import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Fails when a document names a path of this repository that does not exist: in backquotes or as a link. */
const documents = globSync('**/*.md', { exclude: (name) => name === 'node_modules' || name === 'data' })
const PATH = /^(?:packages|scripts|docs|\.ci)\/[\w./-]+$/
const wrong: string[] = []

for (const document of documents) {
  const text = readFileSync(document, 'utf8')
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '').filter((path) => PATH.test(path))
  const linked = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map((match) => match[1] ?? '')
    .filter((path) => !/^[a-z]+:/.test(path))
  for (const path of quoted) if (!existsSync(path)) wrong.push(`${document}: \`${path}\` does not exist`)
  for (const path of linked)
    if (!existsSync(join(dirname(document), path))) wrong.push(`${document}: the link ${path} has no target`)
}

for (const line of wrong) console.error(line)
process.exitCode = wrong.length === 0 ? 0 : 1
