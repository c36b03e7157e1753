import { LIMITS } from '@postroad/contract/plain'
import { parsePattern } from './bounds.ts'
import { programOf } from './compile.ts'
import { Matcher } from './matcher.ts'
import type { Program } from './program.ts'
import { hasWording, type Shortcut, shortcutOf } from './shortcut.ts'

export type Pattern = { readonly program: Program; readonly shortcut: Shortcut | undefined }

/** Compiles a pattern that `validatePattern` accepts. */
export function compilePattern(pattern: string): Pattern {
  const program = programOf(parsePattern(pattern))
  return { program, shortcut: shortcutOf(program) }
}

const MATCHER = new Matcher()

/** Whether the pattern matches somewhere in the first 256 characters of a text. */
export function matches({ program, shortcut }: Pattern, text: string): boolean {
  const max = LIMITS.regexSubjectCharsMax
  const subject = text.length > max ? text.slice(0, max) : text
  if (shortcut !== undefined) {
    const has = shortcut.wordings.some((wording) => hasWording(subject, wording))
    if (!has || shortcut.enough) return has
  }
  return MATCHER.finds(program, subject)
}
