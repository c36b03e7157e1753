import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * Keeps words out of every sentence that a user reads: texts of the console, the command line, the contract and the server, README and docs.
 * Each has a plain word of the field in its place. Identifiers and comments are not read here.
 */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:told|tells?|telling)\b/i, 'notify, report, say'],
  [/\bstanding\b/i, 'status'],
  [/\bmarked\b/i, 'selected'],
  [/\bletter by letter\b/i, 'byte for byte'],
  [/\b(?:a letter (?:to|from|is|with)|mailed letters?|each letter|no letters?)\b/i, 'email'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, patch'],
  [/\bhalt(?:s|ed)?\b/i, 'suspended, closed'],
  [/\b(?:holds?|holding)\b(?!.{0,30} back| deliveries| most)/i, 'contain, store, lock'],
  [/\bheld\b(?! (?:back|by|since)|-by)/i, 'stored, locked, held back'],
  [/\b(?:kept|keeps)\b(?! the type| the previous| failing)/i, 'retained, stored'],
  [/\bburn(?:s|ed|ing)?\b/i, 'consume'],
  [/\bowed\b/i, 'unsettled'],
  [/\bnoted\b/i, 'persisted, recorded'],
  [/\b(?:rung|alarm)\b/i, 'timer fired'],
  [/\bcargo\b/i, 'payload'],
  [/\bshelf\b/i, 'cache'],
  [/\bformer\b/i, 'previous'],
  [/\bof (?:one['’]s|its|their|your|our) own\b/i, 'custom, separate'],
  [/\banew\b/i, 'again'],
  [/\bby hand\b/i, 'manual, manually'],
  [/\bthe begin\b/i, 'the start'],
  [/\b(?:is|are|was|were) over\b(?! \d)/i, 'expired, ended'],
  [/\bstands?\b(?! for\b)/i, 'is, or say where'],
]

const CODE = 'packages/{contract,console,cli,sdk,server}/src/**/*.{ts,tsx}'
const PROSE = ['README.md', 'docs/*.md', 'docs/operate/**/*.md', 'docs/guides/**/*.md']

type Sentence = { readonly file: string; readonly line: number; readonly text: string }

function* sentencesOfCode(file: string): Generator<Sentence> {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const found: Sentence[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTaggedTemplateExpression(node)) return
    if (
      ts.isStringLiteralLike(node) ||
      ts.isJsxText(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    ) {
      const text = node.text.trim()
      // One word alone is a name.
      if (/\s/.test(text))
        found.push({ file, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, text })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  yield* found
}

function* sentencesOfProse(file: string): Generator<Sentence> {
  for (const [at, text] of readFileSync(file, 'utf8').split('\n').entries()) yield { file, line: at + 1, text }
}

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file)
let faults = 0
for (const sentence of [
  ...globSync(CODE)
    .filter((file) => !isTest(file))
    .flatMap((file) => [...sentencesOfCode(file)]),
  ...PROSE.flatMap((pattern) => globSync(pattern)).flatMap((file) => [...sentencesOfProse(file)]),
])
  for (const [word, instead] of WORDS) {
    const found = word.exec(sentence.text)
    if (found === null) continue
    faults += 1
    console.error(
      `${sentence.file}:${sentence.line} says "${found[0]}"; say ${instead}: ${sentence.text.slice(0, 160).replaceAll('\n', ' ')}`,
    )
  }
if (faults > 0) process.exitCode = 1
