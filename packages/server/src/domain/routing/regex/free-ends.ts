import { NOTHING, type Program, type Repeat, type Run } from './program.ts'

/**
 * Simplifies the program at an end that can be anywhere: a repetition beyond its minimum finds no other match there.
 * Both ends of a pattern are free, and so are the far end of a lookahead and the front of a lookbehind.
 */
export function withoutFreeEnd(program: Program, end: 'front' | 'back'): Program {
  switch (program.kind) {
    case 'sequence':
      return sequenceWithoutFreeEnd(program.parts, end)
    case 'choice':
      return { kind: 'choice', branches: program.branches.map((branch) => withoutFreeEnd(branch, end)) }
    case 'run':
    case 'repeat':
      return atFewest(program)
    case 'text':
    case 'unit':
    case 'spot':
    case 'edge':
    case 'look':
      return program
  }
}

function sequenceWithoutFreeEnd(parts: readonly Program[], end: 'front' | 'back'): Program {
  const last = end === 'back' ? parts.at(-1) : parts[0]
  if (last === undefined) return NOTHING
  const others = end === 'back' ? parts.slice(0, -1) : parts.slice(1)
  const less = withoutFreeEnd(last, end)
  if (less === NOTHING) return sequenceWithoutFreeEnd(others, end)
  const kept = end === 'back' ? [...others, less] : [less, ...others]
  return kept.length === 1 ? less : { kind: 'sequence', parts: kept }
}

function atFewest(program: Run | Repeat): Program {
  if (program.min === 0) return NOTHING
  return { ...program, max: program.min }
}
