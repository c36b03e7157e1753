import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { identifier, literal } from './quoted.ts'

test('names and texts are quoted as the driver quotes them', () => {
  for (const text of ['', 'orders', `it's`, 'a\\b', `\\'`, '"x"', `"'\\\\`, 'é😀\n']) {
    assert.equal(identifier(text), pg.escapeIdentifier(text))
    assert.equal(literal(text), pg.escapeLiteral(text))
  }
})
