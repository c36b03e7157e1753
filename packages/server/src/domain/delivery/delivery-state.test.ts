import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { canMove, DELIVERY_STATES, isScheduled, NEXT, PAUSE_REASONS } from './delivery-state.ts'

const document = readFileSync(new URL('../../../../../docs/states/delivery.md', import.meta.url), 'utf8')
const isState = (name: string) => DELIVERY_STATES.some((state) => state === name)

test('the table in docs/states/delivery.md is the table in code', () => {
  const rows = [...document.matchAll(/^\| (\w+) \| ((?:\w+)(?:, \w+)*) \|$/gm)]
  const table = Object.fromEntries(
    rows.filter(([, state]) => isState(state ?? '')).map(([, state, next]) => [state, (next ?? '').split(', ')]),
  )
  assert.deepEqual(table, NEXT)
})

test('the drawing in docs/states/delivery.md has exactly the arrows of the table', () => {
  const drawn = [...document.matchAll(/^ {4}(\w+) --> (\w+)/gm)].map(([, from, to]) => `${from} > ${to}`)
  const coded = DELIVERY_STATES.flatMap((from) => NEXT[from].map((to) => `${from} > ${to}`))
  assert.deepEqual(drawn.toSorted(), coded.toSorted())
})

test('canMove allows the moves of the table and no others', () => {
  for (const from of DELIVERY_STATES) {
    for (const to of DELIVERY_STATES) assert.equal(canMove(from, to), NEXT[from].includes(to), `${from} > ${to}`)
  }
})

test('an attempt starts only from a scheduled state', () => {
  assert.deepEqual(
    DELIVERY_STATES.filter((state) => canMove(state, 'sending')),
    DELIVERY_STATES.filter(isScheduled),
  )
})

test('every state can be reached and left', () => {
  for (const state of DELIVERY_STATES) {
    assert.ok(NEXT[state].length > 0, state)
    assert.ok(
      DELIVERY_STATES.some((from) => canMove(from, state)),
      state,
    )
  }
})

test('every pause reason is named in the document', () => {
  for (const reason of PAUSE_REASONS) assert.match(document, new RegExp(`\`${reason}\``))
})
