import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * Finds words that no sentence for a person may contain. STYLE.md, "Language", has a plain word for each of them. The
 * script checks the texts of the product and the documents, the names of tests, and comments. It does not read
 * identifiers and code in backticks.
 */
type Word = readonly [pattern: RegExp, instead: string]

const WORDS: readonly Word[] = [
  [/\b(?:told|tells?|telling)\b/i, 'notify, report, say'],
  [/\bstanding\b/i, 'status'],
  [/\bmarked\b/i, 'selected'],
  [/\bletter by letter\b/i, 'byte for byte'],
  [/\b(?:a letter (?:to|from|is|with)|mailed letters?|each letter|no letters?)\b/i, 'email'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, patch'],
  [/\bhalt(?:s|ed)?\b/i, 'suspended, closed'],
  [/\b(?:holds?|holding)\b(?!.{0,30} back| deliveries| most)/i, 'contain, store, lock'],
  [/\bheld\b(?! (?:(?:them |it )?back|by|since)|-by)/i, 'stored, locked, held back'],
  [/\b(?:kept|keeps)\b(?! the type| the previous| failing)/i, 'retained, stored'],
  [/\bburn(?:s|ed|ing)?\b/i, 'consume'],
  [/\bowed\b/i, 'unsettled'],
  [/\bnoted\b/i, 'persisted, recorded'],
  [/\bcargo\b/i, 'payload'],
  [/\bshelf\b/i, 'cache'],
  [/\bformer\b/i, 'previous'],
  // The phrase is plain English where its noun follows.
  [
    /\bof (?:one['’]s|its|their|your|our) own\b(?! (?!(?:and|or|for|in|on|at|by|with|that|which|to|is|has)\b)[a-z])/i,
    'custom, separate',
  ],
  [/\banew\b/i, 'again'],
  [/\bby hand\b/i, 'manual, manually'],
  [/\bthe begin\b/i, 'the start'],
  [/\b(?:is|are|was|were) over\b(?! \d)/i, 'expired, ended'],
  [/\bstands?\b(?! for\b)/i, 'is, or say where'],
  [/\balarm\b/i, 'timer fired'],
  // The state `cancelled` is a wire name. The diagrams and tables of states have it without backticks.
  [/\bcancelled\b(?! (?:-->|\|))(?<!--> cancelled)/i, 'canceled'],
  [/\b(?:cancelling|(?:label|model|travel|signal|dial|tunnel|total)l(?:ed|ing))\b/i, 'the spelling with one l'],
  [/\b(?:colou|behaviou|favou|honou|neighbou|flavou|labou)r(?:s|ed|ing|hood)?\b/i, 'the spelling with or'],
  [
    /\b(?:grey|licences?|centres?|catalogues?|defence|judgement|acknowledgements?|towards|whilst|learnt|fulfil)\b/i,
    'the American spelling',
  ],
  [
    /\b(?:analys(?:ed?|ing)|(?:author|categor|custom|initial|minim|normal|optim|organ|prior|recogn|serial|summar|synchron|util)is(?:ed?|es|ing|ation))\b/i,
    'the spelling with z',
  ],
]
/** Stiff or over-literal phrases of a user's sentence. */
const WORDS_OF_USERS: readonly Word[] = [
  ...WORDS,
  // The ladder has rungs in the decisions, in comments and in tests; a user has never heard of it.
  [/\brung\b/i, 'step, check'],
  [/\bswitch(?:ed|es|ing)? (?:it |them )?(?:on|off)\b/i, 'turn on, turn off'],
  [/\bby mail\b/i, 'by email'],
  [/\bsomebody\b/i, 'someone'],
  [/\b(?:next|last|failed) tr(?:y|ies)\b/i, 'attempt'],
  [/\bnot concerned\b/i, 'does not apply to'],
  [/\b(?:needs?|requires?) the role\b(?! names?)/i, 'requires the … role'],
  [/^['"`]?[\w.[\]]+: (?:is|must|has|have|needs|may|cannot)\b/, 'the member and its verb without a colon'],
]
/** The name of a test starts with its subject. */
const WORDS_OF_NAMES: readonly Word[] = [
  ...WORDS,
  [
    /^['"`](?:what|who|whom|whoever|and|or|also|is|are|was|were|has|have|says|gives|takes)\b/i,
    'the actor or the thing',
  ],
]
/** A sentence of a comment starts with its subject, unless it is a question. */
const WORDS_OF_COMMENTS: readonly Word[] = [
  ...WORDS,
  [/(?:^|\. )(?:[/*\s]*)(?:What|Who|Whom|Whoever)\b(?![^.]*\?)/, 'the actor or the thing'],
]

type Sentence = { readonly file: string; readonly line: number; readonly text: string }

/** Texts of the product that a user reads. */
const PRODUCT = 'packages/{contract,console,cli,sdk,server,verify}/src/**/*.{ts,tsx}'
/** Documents for users. */
const GUIDES = ['README.md', 'docs/*.md', 'docs/operate/**/*.md', 'docs/guides/**/*.md']
/** Documents for engineers. STYLE.md has the table of these words. */
const DECISIONS = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  'CHANGELOG.md',
  'docs/adr/**/*.md',
  'docs/states/**/*.md',
]
/** The names of tests and the comments of these folders are checked. */
const CODE = ['packages/*/{src,test,sim,chaos,bench,build,assets,bin}', 'scripts']
const COMMENT_LINES_MAX = 3

const isTest = (file: string): boolean => /\.test\.tsx?$/.test(file)
const CODE_FILES = CODE.flatMap((folder) =>
  globSync(`${folder}/**/*.{ts,tsx,js}`, { exclude: (name) => name === 'node_modules' }),
)
const withoutCode = (text: string): string => text.replaceAll(/`[^`]*`/g, '…').replaceAll(/\]\([^)]*\)/g, ']')

function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
}

function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node
  for (const child of node.getChildren()) yield* nodesOf(child)
}

const lineOf = (source: ts.SourceFile, at: number): number => source.getLineAndCharacterOfPosition(at).line + 1

function textsOfProduct(file: string): readonly Sentence[] {
  const source = sourceOf(file)
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
      if (/\s/.test(text)) found.push({ file, line: lineOf(source, node.getStart()), text: withoutCode(text) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function linesOf(file: string): readonly Sentence[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.map((text, at) => ({ file, line: at + 1, text: withoutCode(text) }))
}

/** The names of `test` and `describe`: sentences of the contract. */
function namesOfTests(file: string): readonly Sentence[] {
  const source = sourceOf(file)
  return [...nodesOf(source)].filter(ts.isCallExpression).flatMap((call) => {
    const [name] = call.arguments
    if (name === undefined || !/^(?:test|describe)$/.test(call.expression.getText())) return []
    return [{ file, line: lineOf(source, name.getStart()), text: name.getText().replaceAll(/\$\{[^}]*\}/g, '…') }]
  })
}

function commentsOf(file: string): readonly Sentence[] {
  const source = sourceOf(file)
  const found = new Map<number, Sentence>()
  for (const node of nodesOf(source)) {
    const ranges = [node.getFullStart(), node.getEnd()].flatMap((at) => [
      ...(ts.getLeadingCommentRanges(source.text, at) ?? []),
      ...(ts.getTrailingCommentRanges(source.text, at) ?? []),
    ])
    for (const { pos, end } of ranges)
      found.set(pos, { file, line: lineOf(source, pos), text: withoutCode(source.text.slice(pos, end)) })
  }
  return [...found.values()]
}

function faultsIn(sentences: readonly Sentence[], words: readonly Word[]): readonly string[] {
  return sentences.flatMap(({ file, line, text }) =>
    words.flatMap(([word, instead]) => {
      const found = word.exec(text)
      if (found === null) return []
      return [`${file}:${line} says "${found[0]}"; say ${instead}: ${text.slice(0, 160).replaceAll('\n', ' ')}`]
    }),
  )
}

/** The lines of text of a comment, without its marks. */
const textLines = (comment: string): readonly string[] =>
  comment
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:\/\*+|\*\/|\*|\/\/)/, '')
        .replace(/\*\/\s*$/, '')
        .trim(),
    )
    .filter((line) => line !== '')

/** Comments of more than three lines, except the head of a module and a list of steps (docs/adr/0150). */
function longCommentsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^[^\S\n]*\/\*[\s\S]*?\*\/|(?:^[^\S\n]*\/\/.*\n)+/gm)].flatMap(({ 0: comment, index }) => {
    const lines = textLines(comment)
    if (index === 0 || lines.length <= COMMENT_LINES_MAX || lines.some((line) => /^(?:-|\d+\.) /.test(line))) return []
    const line = text.slice(0, index).split('\n').length
    return [`${file}:${line} has a comment of ${lines.length} lines; write at most ${COMMENT_LINES_MAX}.`]
  })
}

const faults = [
  ...faultsIn(
    globSync(PRODUCT)
      .filter((file) => !isTest(file))
      .flatMap(textsOfProduct),
    WORDS_OF_USERS,
  ),
  ...faultsIn(globSync(GUIDES).flatMap(linesOf), WORDS_OF_USERS),
  ...faultsIn(globSync(DECISIONS).flatMap(linesOf), WORDS),
  ...faultsIn(CODE_FILES.filter(isTest).flatMap(namesOfTests), WORDS_OF_NAMES),
  ...faultsIn(CODE_FILES.flatMap(commentsOf), WORDS_OF_COMMENTS),
  ...CODE_FILES.flatMap(longCommentsOf),
]
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
