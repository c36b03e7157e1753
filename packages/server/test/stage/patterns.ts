import assert from 'node:assert/strict'
import { validatePattern } from '../../src/domain/routing/regex/bounds.ts'
import { Matcher } from '../../src/domain/routing/regex/matcher.ts'
import { compilePattern, matches } from '../../src/domain/routing/regex/pattern.ts'

/**
 * Our dialect writes flags as modifiers of a group, and RegExp gets them as flags, because V8 confuses its cache
 * entries for modifiers.
 */
export function sameAsRegExp(pattern: string, texts: readonly string[], flags = ''): readonly boolean[] {
  const withFlags = flags === '' ? pattern : `(?${flags}:${pattern})`
  assert.equal(validatePattern(withFlags), undefined, withFlags)
  const compiled = compilePattern(withFlags)
  const regExp = new RegExp(pattern, flags)
  return texts.map((text) => {
    const answer = matches(compiled, text)
    assert.equal(answer, regExp.test(text), `${withFlags} on ${JSON.stringify(text)}`)
    return answer
  })
}

/** More steps than this for each character of the pattern and each character of the text would not be linear. */
const STEPS_MAX = 4

export function assertLinear(pattern: string, texts: readonly string[]): void {
  const { program } = compilePattern(pattern)
  const matcher = new Matcher()
  for (const text of texts) {
    matcher.finds(program, text)
    const { steps } = matcher
    assert.ok(steps <= STEPS_MAX * (pattern.length + 1) * 256, `${pattern} takes ${steps} steps on ${text}`)
  }
}
