import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextPath } from './next-path.ts'

const ELSEWHERE = [
  'https://evil.example',
  'http://evil.example/',
  '//evil.example',
  '///evil.example',
  '////evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\\/evil.example',
  '\\/evil.example',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'evil.example',
  '@evil.example',
  '.evil.example',
  '',
  ' ',
  ' //evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/\r/evil.example',
  '/a\r\nSet-Cookie: x=y',
  '\t//evil.example',
  '/\u0000/evil.example',
  '/./\\evil.example',
  '/x/..//evil.example',
  '/.//evil.example',
  'http:evil.example',
  'https:/evil.example',
  'https:evil.example',
  '//evil.example@127.0.0.1',
  '//127.0.0.1@evil.example',
  '/\u007f/evil',
  'mailto:a@b',
]

test('a path that names another host in any spelling that a browser accepts is not followed', () => {
  for (const asked of [...ELSEWHERE, undefined]) assert.equal(nextPath(asked), '/', JSON.stringify(asked))
})

test('a path of this server is followed with its query and fragment', () => {
  for (const path of [
    '/',
    '/account',
    '/a/b?c=d&e=//f#g',
    '/search?q=https://elsewhere.example',
    '/%2F%2Fevil.example',
    '/a//b',
  ])
    assert.equal(nextPath(path), path)
})

test('a path that is too long for the cookie of a sign-in is not followed', () => {
  for (const path of [`/${'x'.repeat(2_000)}`, `/${'é'.repeat(400)}`]) assert.equal(nextPath(path), '/')
  assert.equal(nextPath(`/${'x'.repeat(1_999)}`), `/${'x'.repeat(1_999)}`)
})

test('every path leads to this server, as a browser resolves it', () => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '//',
    '.',
    '..',
    'evil.example',
    '@',
    ':',
    'http:',
    '\t',
    '\n',
    '%2f',
    '#',
    '?',
    'a',
    '\u00a0',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const url = new URL(nextPath(pieces.join('')), 'https://here.example')
      assert.equal(url.origin, 'https://here.example')
    }),
    { numRuns: 2_000 },
  )
})
