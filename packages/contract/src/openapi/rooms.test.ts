import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOMS } from './rooms.ts'
import { NAMED_SCHEMAS } from './schema-names.ts'

test('no two rooms give a schema the same name, and none takes a shared one', () => {
  const named = Object.entries(ROOMS).flatMap(([room, { schemas = {} }]) =>
    Object.entries(schemas).map(([name, schema]) => ({ room, name, schema })),
  )
  const lost = named.filter(
    ({ name, schema }, index) =>
      named.findIndex((other) => other.name === name) !== index ||
      Object.entries(NAMED_SCHEMAS).every(([known, of]) => known !== name || of !== schema),
  )
  assert.deepEqual(
    lost.map(({ room, name }) => `${room}: ${name}`),
    [],
  )
})

test('no two rooms give an example of the same member', () => {
  const named = Object.entries(ROOMS).flatMap(([room, { members = {} }]) =>
    Object.entries<object>(members).flatMap(([schema, of]) =>
      Object.keys(of).map((member) => ({ room, name: `${schema}.${member}` })),
    ),
  )
  const twice = Map.groupBy(named, ({ name }) => name)
  assert.deepEqual(
    [...twice.values()].filter(({ length }) => length > 1),
    [],
  )
})
