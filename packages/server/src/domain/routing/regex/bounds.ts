import { LIMITS } from '@postroad/contract/plain'
import { type AST, RegExpParser, RegExpSyntaxError, visitRegExpAST } from '@eslint-community/regexpp'

/**
 * The reason why a pattern may not be used, or undefined when it may (contract part 2, "Condition", rule 4). It names the limit
 * that the pattern breaks and the position. Every pattern within the limits is accepted: the syntax is that of `RegExp` without
 * flags.
 */
export function validatePattern(pattern: string): string | undefined {
  const { regexPatternCharsMax: max } = LIMITS
  if (pattern.length > max) return `The pattern has ${pattern.length} characters. Shorten it to at most ${max}.`
  try {
    return brokenBound(parsePattern(pattern))
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error
    return describeSyntaxError(error, pattern)
  }
}

/** The syntax tree of a pattern, parsed as `RegExp` parses it without flags. */
export function parsePattern(pattern: string): AST.Pattern {
  return new RegExpParser().parsePattern(pattern)
}

function describeSyntaxError({ message, index }: RegExpSyntaxError, pattern: string): string {
  const reason = message.slice(message.lastIndexOf('/: ') + '/: '.length)
  const near = Math.max(1, Math.min(index, pattern.length))
  return `The pattern does not compile: ${reason}, near character ${near}. Correct it there.`
}

function brokenBound(tree: AST.Pattern): string | undefined {
  let problem: string | undefined
  const openEnded: AST.Quantifier[] = []
  visitRegExpAST(tree, {
    onBackreferenceEnter(node) {
      problem ??= `The pattern refers back to a group with ${place(node)}. Write out the text that the group stands for.`
    },
    onQuantifierEnter(node) {
      if (node.max === Infinity) openEnded.push(node)
      if (node.max > 1 && repeatsOrAlternates(node.element))
        problem ??= `The pattern repeats a group that itself repeats or alternates: ${place(node)}. Repeat only groups without *, +, {n} and |.`
    },
  })
  return problem ?? tooManyOpenEnded(openEnded)
}

function tooManyOpenEnded(openEnded: readonly AST.Quantifier[]): string | undefined {
  const { regexOpenRepetitionsMax: max } = LIMITS
  const first = openEnded[max]
  if (first === undefined) return undefined
  return (
    `The pattern has ${openEnded.length} open-ended repetitions (*, +, {n,}), and at most ${max} are allowed. ` +
    `Give ${place(first)} an upper limit, such as {0,50}.`
  )
}

/** Whether something inside the parentheses of a group or a lookaround repeats or alternates, at any depth. */
function repeatsOrAlternates(element: AST.QuantifiableElement): boolean {
  let found = false
  const look = ({ alternatives }: { readonly alternatives: readonly AST.Alternative[] }): void => {
    found ||= alternatives.length > 1
  }
  visitRegExpAST(element, {
    onQuantifierEnter: (node) => void (found ||= node.max > 1),
    onGroupEnter: look,
    onCapturingGroupEnter: look,
    onAssertionEnter: (node) => {
      if (node.kind === 'lookahead' || node.kind === 'lookbehind') look(node)
    },
  })
  return found
}

const QUOTED_CHARS_MAX = 40

function place({ raw, start }: AST.Node): string {
  const quoted = raw.length > QUOTED_CHARS_MAX ? `${raw.slice(0, QUOTED_CHARS_MAX)}…` : raw
  return `${quoted} at character ${start + 1}`
}
