import type { Program } from './program.ts'

/** A text that a subject contains: somewhere, at its start, at its end, or as the whole. */
export type Wording = { readonly text: string; readonly atStart: boolean; readonly atEnd: boolean }

/**
 * The part of a pattern that string functions can test, many times faster than any simulation. Every match contains one of the
 * wordings. When they are `enough`, every subject that contains one also matches.
 */
export type Shortcut = { readonly wordings: readonly Wording[]; readonly enough: boolean }

const WORDINGS_MAX = 16
const EMPTY: Wording = { text: '', atStart: false, atEnd: false }

/** Undefined when only the matcher can decide. */
export function shortcutOf(program: Program): Shortcut | undefined {
  const wordings = wordingsOf(program)
  if (wordings !== undefined) return { wordings, enough: true }
  const needed = program.kind === 'sequence' ? neededIn(program.parts) : undefined
  return needed === undefined ? undefined : { wordings: [needed], enough: false }
}

export function hasWording(subject: string, { text, atStart, atEnd }: Wording): boolean {
  if (atStart) return atEnd ? subject === text : subject.startsWith(text)
  return atEnd ? subject.endsWith(text) : subject.includes(text)
}

/**
 * All texts that a pattern of text, choices and the ends of the text can match; undefined for any other pattern, or for too
 * many texts.
 */
function wordingsOf(program: Program): readonly Wording[] | undefined {
  switch (program.kind) {
    case 'text':
      return [{ ...EMPTY, text: program.text }]
    case 'edge':
      return [{ ...EMPTY, atStart: program.edge === 'start', atEnd: program.edge === 'end' }]
    case 'sequence':
      return program.parts.reduce<readonly Wording[] | undefined>(
        (heads, part) => everyPair(heads, wordingsOf(part)),
        [EMPTY],
      )
    case 'choice':
      return allOf(program.branches.map(wordingsOf))
    case 'unit':
    case 'spot':
    case 'look':
    case 'run':
    case 'repeat':
      return undefined
  }
}

function allOf(lists: readonly (readonly Wording[] | undefined)[]): readonly Wording[] | undefined {
  const all: Wording[] = []
  for (const list of lists) {
    if (list === undefined) return undefined
    all.push(...list)
  }
  return all.length > WORDINGS_MAX ? undefined : all
}

function everyPair(
  heads: readonly Wording[] | undefined,
  tails: readonly Wording[] | undefined,
): readonly Wording[] | undefined {
  if (heads === undefined || tails === undefined) return undefined
  return allOf(heads.flatMap((head) => tails.map((tail) => together(head, tail))))
}

/** A start edge after some text, or text after an end edge, is left to the matcher. */
function together(head: Wording, tail: Wording): readonly Wording[] | undefined {
  if ((tail.atStart && head.text !== '') || (head.atEnd && tail.text !== '')) return undefined
  return [{ text: head.text + tail.text, atStart: head.atStart || tail.atStart, atEnd: head.atEnd || tail.atEnd }]
}

/** The longest text that every match of a sequence contains, or the text that it starts with. */
function neededIn(parts: readonly Program[]): Wording | undefined {
  const [first, second] = parts
  if (first?.kind === 'edge' && first.edge === 'start' && second?.kind === 'text')
    return { text: second.text, atStart: true, atEnd: false }
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const [longest] = texts.toSorted((a, b) => b.length - a.length)
  return longest === undefined ? undefined : { ...EMPTY, text: longest }
}
