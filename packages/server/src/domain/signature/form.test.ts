import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formOf, signatureForms } from './form.ts'

const HEX = 'ab'.repeat(32)
const BASE64 = `${'A/'.repeat(21)}A=`

test('the form of a signature has labels, lengths and alphabets, and no value', () => {
  assert.equal(formOf(`t=1700000000,v1=${HEX},v0=${HEX}`), 't=<10 digits>,v1=<64 hex>,v0=<64 hex>')
  assert.equal(formOf(`sha256=${HEX.toUpperCase()}`), 'sha256=<64 hex in capitals>')
  assert.equal(formOf(BASE64), '<44 base64>')
  assert.equal(formOf(`v1,${BASE64} v1a,x-y_z`), 'v1,<44 base64> v1a,<5 base64url>')
  assert.equal(formOf(''), '')
})

test('a word that does not describe a digest is shown only by its length, because it may be a secret in the wrong place', () => {
  assert.equal(formOf('hunter2'), '<7 base64>')
  assert.equal(formOf('hunter2=secret'), '<14 characters>')
  assert.equal(formOf('Bearer s3cr€t'), '<6 base64> <6 characters>')
  assert.equal(formOf(`mine:${HEX}`, 'mine:'), 'mine:<64 hex>')
})

test('a value with very many items is cut', () => {
  assert.ok(formOf('a,'.repeat(10_000)).length < 400)
})

test('only signature headers and the header that the endpoint reads have a form', () => {
  assert.deepEqual(
    signatureForms(
      { 'x-own': 'p=1', 'stripe-signature': 't=1', authorization: 'Bearer x', 'content-type': 'a/b' },
      { header: 'X-Own', prefix: 'p=' },
    ),
    { 'x-own': 'p=<1 digits>', 'stripe-signature': 't=<1 digits>' },
  )
})
