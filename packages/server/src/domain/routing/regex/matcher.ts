/**
 * Runs a program over a whole set of positions at once, so nothing is tried twice: the time is bounded by the length of the
 * pattern times the length of the text. Without back references a match depends only on positions, so a set of positions is the
 * complete state.
 */

import { LIMITS } from '@postroad/contract/plain'
import { type CodeUnits, LINE_TERMINATORS, WORD_UNITS } from './code-units.ts'
import { Positions } from './positions.ts'
import type { Leaf, Look, Program, Repeat, Run, Spot, Text } from './program.ts'

type Direction = 'forward' | 'backward'

/** Its sets of positions are reused for one text after another, because allocating them would take longer than most matches. */
export class Matcher {
  /** The work for the last text: one step is one position, or one word with 32 of them. */
  steps = 0
  #text = ''
  readonly #spare: Positions[] = []
  readonly #places = new Map<Leaf | Look, Positions>()

  /** Whether the program matches somewhere in a text of at most 256 characters. */
  finds(program: Program, text: string): boolean {
    this.steps = 0
    this.#text = text
    const at = this.#take().fill()
    this.#move(at, program, 'forward')
    const found = !at.isEmpty()
    this.#giveBack(at)
    if (this.#places.size > 0) this.#forgetPlaces()
    return found
  }

  /** Replaces each position by those where a match of the program that starts there can end; backward, the reverse. */
  #move(at: Positions, program: Program, direction: Direction): void {
    this.steps += at.wordCount
    switch (program.kind) {
      case 'text':
      case 'unit':
      case 'spot':
        return this.#moveOverLeaf(at, program, direction)
      case 'edge':
        return at.keepOnly(program.edge === 'start' ? 0 : at.length)
      case 'look':
        return at.intersect(this.#placesOfLook(program))
      case 'sequence':
        return this.#moveInTurn(at, program.parts, direction)
      case 'choice':
        return this.#moveEitherWay(at, program.branches, direction)
      case 'run':
        return direction === 'forward' ? this.#runForward(at, program) : this.#runBackward(at, program)
      case 'repeat':
        return this.#repeat(at, program, direction)
    }
  }

  #moveOverLeaf(at: Positions, leaf: Leaf, direction: Direction): void {
    if (direction === 'backward') at.shift(-leaf.width)
    if (leaf.again) at.intersect(this.#placesOfLeaf(leaf))
    else this.#retain(at, leaf)
    if (direction === 'forward') at.shift(leaf.width)
  }

  #retain(at: Positions, leaf: Leaf): void {
    switch (leaf.kind) {
      case 'text':
        return this.#retainText(at, leaf)
      case 'unit':
        return this.#retainUnits(at, leaf.units)
      case 'spot':
        return this.#retainSpot(at, leaf.spot)
    }
  }

  #retainText(at: Positions, { text, firstUnit, width }: Text): void {
    for (let position = at.next(0); position !== -1; position = at.next(position + 1)) {
      this.steps += width
      const begins = this.#text.charCodeAt(position) === firstUnit
      if (!begins || (width > 1 && !this.#text.startsWith(text, position))) at.remove(position)
    }
  }

  #retainUnits(at: Positions, units: CodeUnits): void {
    at.remove(at.length)
    for (let position = at.next(0); position !== -1; position = at.next(position + 1)) {
      this.steps += 1
      if (!units.has(this.#text.charCodeAt(position))) at.remove(position)
    }
  }

  #retainSpot(at: Positions, spot: Spot): void {
    for (let position = at.next(0); position !== -1; position = at.next(position + 1)) {
      this.steps += 1
      if (!isSpot(spot, this.#text, position)) at.remove(position)
    }
  }

  #placesOfLeaf(leaf: Leaf): Positions {
    const known = this.#places.get(leaf)
    if (known !== undefined) return known
    const places = this.#take().fill()
    this.#retain(places, leaf)
    this.#places.set(leaf, places)
    return places
  }

  /** The positions where a match starts are those that a run in the opposite direction reaches from anywhere. */
  #placesOfLook(look: Look): Positions {
    const known = this.#places.get(look)
    if (known !== undefined) return known
    const places = this.#take().fill()
    this.#move(places, look.body, look.ahead ? 'backward' : 'forward')
    if (look.negate) places.invert()
    this.#places.set(look, places)
    return places
  }

  #moveInTurn(at: Positions, parts: readonly Program[], direction: Direction): void {
    for (let index = 0; index < parts.length && !at.isEmpty(); index += 1) {
      const part = parts[direction === 'forward' ? index : parts.length - 1 - index]
      if (part !== undefined) this.#move(at, part, direction)
    }
  }

  #moveEitherWay(at: Positions, branches: readonly Program[], direction: Direction): void {
    const from = this.#take().copy(at)
    const reached = this.#take()
    at.clear()
    for (const branch of branches) {
      this.#move(reached.copy(from), branch, direction)
      at.unite(reached)
    }
    this.#giveBack(from)
    this.#giveBack(reached)
  }

  /**
   * One pass from each first start. Only the latest start matters, because it reaches every position that an earlier one
   * reaches.
   */
  #runForward(at: Positions, { units, min, max }: Run): void {
    const text = this.#text
    const starts = this.#take().copy(at)
    at.clear()
    for (let first = starts.next(0); first !== -1;) {
      let latest = -1
      let end = first
      for (; ; end += 1) {
        const start = end - min
        if (start >= first && starts.has(start)) latest = start
        if (latest !== -1 && end - latest <= max) at.add(end)
        if (end === text.length || !units.has(text.charCodeAt(end))) break
      }
      this.steps += end - first + 1
      first = starts.next(end + 1)
    }
    this.#giveBack(starts)
  }

  #runBackward(at: Positions, { units, min, max }: Run): void {
    const text = this.#text
    const starts = this.#take().copy(at)
    at.clear()
    for (let first = starts.previous(text.length); first !== -1;) {
      let latest = -1
      let end = first
      for (; ; end -= 1) {
        const start = end + min
        if (start <= first && starts.has(start)) latest = start
        if (latest !== -1 && latest - end <= max) at.add(end)
        if (end === 0 || !units.has(text.charCodeAt(end - 1))) break
      }
      this.steps += first - end + 1
      first = starts.previous(end - 1)
    }
    this.#giveBack(starts)
  }

  #repeat(at: Positions, { body, min, max }: Repeat, direction: Direction): void {
    const other = this.#take()
    // With more iterations than characters one iteration is empty, and an empty one can be left out or repeated.
    const needed = Math.min(min, at.length + 1)
    for (let count = 0; count < needed && !at.isEmpty(); count += 1) {
      other.copy(at)
      this.#move(at, body, direction)
      if (at.equals(other)) break
    }
    const fresh = other.copy(at)
    for (let more = max - min; more > 0 && !fresh.isEmpty(); more -= 1) {
      this.#move(fresh, body, direction)
      fresh.subtract(at)
      at.unite(fresh)
    }
    this.#giveBack(other)
  }

  #take(): Positions {
    const set = this.#spare.pop() ?? new Positions(LIMITS.regexSubjectCharsMax)
    return set.resize(this.#text.length)
  }

  #giveBack(set: Positions): void {
    this.#spare.push(set)
  }

  #forgetPlaces(): void {
    this.#spare.push(...this.#places.values())
    this.#places.clear()
  }
}

function isSpot(spot: Spot, text: string, position: number): boolean {
  switch (spot) {
    case 'line start':
      return position === 0 || LINE_TERMINATORS.has(text.charCodeAt(position - 1))
    case 'line end':
      return position === text.length || LINE_TERMINATORS.has(text.charCodeAt(position))
    case 'word boundary':
      return isWord(text, position - 1) !== isWord(text, position)
    case 'no word boundary':
      return isWord(text, position - 1) === isWord(text, position)
  }
}

function isWord(text: string, position: number): boolean {
  return position >= 0 && position < text.length && WORD_UNITS.has(text.charCodeAt(position))
}
