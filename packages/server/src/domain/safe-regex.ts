import { LIMITS } from '@postroad/contract'
import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { RE2JS } from 're2js'

/**
 * Counted repetitions are written out when a pattern is compiled; this many instructions are still quick on 256
 * characters.
 */
const INSTRUCTIONS_MAX = 2_500

/** Compiles a pattern for the linear-time engine. Throws on a pattern that `whyUnsafe` refuses. */
export function compilePattern(pattern: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(pattern))
}

/**
 * Why a pattern may not be used, in one sentence, or undefined when it may (contract part 2, "Condition", rule 4).
 * The bounds are read off the syntax tree; what the linear-time engine cannot run is refused too.
 */
export function whyUnsafe(pattern: string): string | undefined {
  if (pattern.length > LIMITS.regexPatternCharsMax)
    return `The pattern has more than ${LIMITS.regexPatternCharsMax} characters; shorten it.`
  const tree = parse(pattern)
  if (tree === undefined) return 'The pattern does not compile; check its brackets and escapes.'
  return problemInTree(tree) ?? problemInEngine(pattern)
}

function parse(pattern: string): AST.Pattern | undefined {
  try {
    return new RegExpParser().parsePattern(pattern)
  } catch {
    return undefined
  }
}

function problemInTree(tree: AST.Pattern): string | undefined {
  let problem: string | undefined
  let openEnded = 0
  visitRegExpAST(tree, {
    onBackreferenceEnter() {
      problem ??= 'The pattern refers back to a group; write out what should repeat.'
    },
    onAssertionEnter(node) {
      if (node.kind === 'lookahead' || node.kind === 'lookbehind')
        problem ??= 'The pattern looks ahead or behind; write it without (?=, (?!, (?<= and (?<!.'
    },
    onQuantifierEnter(node) {
      if (node.max === Infinity) openEnded += 1
      if (node.max > 1 && repeatsOrAlternates(node.element)) {
        problem ??= 'The pattern repeats a group that itself repeats or alternates; repeat only plain groups.'
      }
    },
  })
  if (problem !== undefined || openEnded <= LIMITS.regexOpenRepetitionsMax) return problem
  const max = LIMITS.regexOpenRepetitionsMax
  return `The pattern has ${openEnded} open-ended repetitions (*, +, {n,}); use at most ${max}.`
}

function repeatsOrAlternates(element: AST.QuantifiableElement): boolean {
  let found = false
  visitRegExpAST(element, {
    onQuantifierEnter: (node) => void (found ||= node.max > 1),
    onGroupEnter: (node) => void (found ||= node.alternatives.length > 1),
    onCapturingGroupEnter: (node) => void (found ||= node.alternatives.length > 1),
  })
  return found
}

function problemInEngine(pattern: string): string | undefined {
  try {
    if (compilePattern(pattern).programSize() <= INSTRUCTIONS_MAX) return undefined
    return 'The counted repetitions of the pattern add up to too much; use smaller counts.'
  } catch {
    return 'The pattern uses syntax that the linear-time engine does not have; use RE2 syntax.'
  }
}
