import type { AST } from '@eslint-community/regexpp'
import { CodeUnits, DIGITS, LINE_TERMINATORS, only, SPACES, WORD_UNITS, type UnitRange } from './code-units.ts'
import { withoutFreeEnd } from './free-ends.ts'
import { NOTHING, type Program } from './program.ts'

type Mode = {
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly dotAll: boolean
  readonly again: boolean
}

/** The program of a syntax tree without back references, with the meaning that `RegExp` gives it without flags. */
export function programOf(tree: AST.Pattern): Program {
  const mode = { ignoreCase: false, multiline: false, dotAll: false, again: false }
  return withoutFreeEnd(withoutFreeEnd(choiceOf(tree.alternatives, mode), 'front'), 'back')
}

function choiceOf(alternatives: readonly AST.Alternative[], mode: Mode): Program {
  const [first = NOTHING, ...others] = alternatives.map(({ elements }) => sequenceOf(elements, mode))
  return others.length === 0 ? first : { kind: 'choice', branches: [first, ...others] }
}

function sequenceOf(elements: readonly AST.Element[], mode: Mode): Program {
  const parts: Program[] = []
  for (const part of elements.map((element) => elementOf(element, mode)).flatMap(partsOf)) {
    const before = parts.at(-1)
    if (part.kind === 'text' && before?.kind === 'text')
      parts[parts.length - 1] = textOf(before.text + part.text, mode.again)
    else parts.push(part)
  }
  const [first, second] = parts
  return first !== undefined && second === undefined ? first : { kind: 'sequence', parts }
}

function partsOf(program: Program): readonly Program[] {
  return program.kind === 'sequence' ? program.parts : [program]
}

function elementOf(element: AST.Element, mode: Mode): Program {
  switch (element.type) {
    case 'Assertion':
      return assertionOf(element, mode)
    case 'Quantifier':
      return quantifierOf(element, mode)
    case 'Group':
      return choiceOf(element.alternatives, modeInside(element, mode))
    case 'CapturingGroup':
      return choiceOf(element.alternatives, mode)
    case 'Character':
      return mode.ignoreCase
        ? unitOf(unitsOf(element, mode), mode.again)
        : textOf(String.fromCharCode(element.value), mode.again)
    case 'CharacterSet':
    case 'CharacterClass':
      return unitOf(unitsOf(element, mode), mode.again)
    case 'Backreference':
    case 'ExpressionCharacterClass':
      throw new Error(`A pattern without flags and back references has no ${element.type}.`)
  }
}

function assertionOf(assertion: AST.Assertion, mode: Mode): Program {
  switch (assertion.kind) {
    case 'start':
    case 'end':
      return mode.multiline
        ? { kind: 'spot', spot: `line ${assertion.kind}`, width: 0, again: mode.again }
        : { kind: 'edge', edge: assertion.kind }
    case 'word':
      return {
        kind: 'spot',
        spot: assertion.negate ? 'no word boundary' : 'word boundary',
        width: 0,
        again: mode.again,
      }
    case 'lookahead':
    case 'lookbehind':
      return lookOf(assertion, mode)
  }
}

function lookOf({ kind, negate, alternatives }: AST.LookaroundAssertion, mode: Mode): Program {
  const ahead = kind === 'lookahead'
  // The places where it matches are found once for a text, even if the assertion itself is in a repeated group.
  const body = choiceOf(alternatives, { ...mode, again: false })
  return { kind: 'look', body: withoutFreeEnd(body, ahead ? 'back' : 'front'), ahead, negate }
}

function quantifierOf({ element, min, max }: AST.Quantifier, mode: Mode): Program {
  if (max === 0) return NOTHING
  const body = elementOf(element, { ...mode, again: mode.again || max > 1 })
  if (min === 1 && max === 1) return body
  const units = max > 1 ? unitsOfOne(body) : undefined
  return units === undefined ? { kind: 'repeat', body, min, max } : { kind: 'run', units, min, max }
}

function unitsOfOne(program: Program): CodeUnits | undefined {
  if (program.kind === 'unit') return program.units
  return program.kind === 'text' && program.width === 1 ? new CodeUnits([only(program.firstUnit)]) : undefined
}

function modeInside({ modifiers }: AST.Group, mode: Mode): Mode {
  if (modifiers === null) return mode
  const { add, remove } = modifiers
  const isOn = (flag: 'ignoreCase' | 'multiline' | 'dotAll'): boolean =>
    add[flag] || (mode[flag] && remove?.[flag] !== true)
  return { ...mode, ignoreCase: isOn('ignoreCase'), multiline: isOn('multiline'), dotAll: isOn('dotAll') }
}

function textOf(text: string, again: boolean): Program {
  return { kind: 'text', text, firstUnit: text.charCodeAt(0), width: text.length, again }
}

function unitOf(units: CodeUnits, again: boolean): Program {
  const single = units.single
  return single === undefined ? { kind: 'unit', units, width: 1, again } : textOf(String.fromCharCode(single), again)
}

type OneUnit = AST.Character | AST.CharacterSet | AST.CharacterClass

function unitsOf(element: OneUnit, mode: Mode): CodeUnits {
  const listed = new CodeUnits(
    element.type === 'CharacterClass' ? element.elements.flatMap(rangesOf) : rangesOf(element),
  )
  if (element.type === 'CharacterSet' && element.kind === 'any')
    return mode.dotAll ? new CodeUnits([]).complement() : LINE_TERMINATORS.complement()
  const units = mode.ignoreCase ? listed.withOtherCases() : listed
  return element.type === 'CharacterClass' && element.negate ? units.complement() : units
}

function rangesOf(element: AST.Character | AST.CharacterSet | AST.CharacterClassElement): readonly UnitRange[] {
  switch (element.type) {
    case 'Character':
      return [only(element.value)]
    case 'CharacterClassRange':
      return [[element.min.value, element.max.value]]
    case 'CharacterSet':
      return setOf(element).ranges
    case 'CharacterClass':
    case 'ClassStringDisjunction':
    case 'ExpressionCharacterClass':
      throw new Error(`A pattern without flags has no ${element.type} in a class.`)
  }
}

function setOf(element: AST.CharacterSet): CodeUnits {
  switch (element.kind) {
    case 'digit':
      return element.negate ? DIGITS.complement() : DIGITS
    case 'space':
      return element.negate ? SPACES.complement() : SPACES
    case 'word':
      return element.negate ? WORD_UNITS.complement() : WORD_UNITS
    case 'any':
      return LINE_TERMINATORS.complement()
    case 'property':
      throw new Error('A pattern without flags has no property escapes.')
  }
}
