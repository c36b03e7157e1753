import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KNOWN_HANDSHAKES, type Condition, type HandshakeForm, type Mapping } from '@postroad/contract'
import { draftOf, sentOf } from '../../src/parts/condition-draft.ts'
import { mappingDraftOf, mappingOf, NEW_MAPPING } from '../../src/parts/mapping-draft.ts'
import {
  formDraftOf,
  handshakeDraftOf,
  handshakeOf,
  knownIn,
} from '../../src/screens/capture/endpoints/handshake-draft.ts'
import { readingDraftOf, readingOf } from '../../src/screens/capture/endpoints/reading-draft.ts'
import { responseDraftOf, responseOf } from '../../src/screens/capture/endpoints/response-draft.ts'
import { bodyOf, NEW_RULE, type RuleDraft } from '../../src/screens/capture/rules/draft.ts'

/** A form that was opened and saved without an edit sends what is stored. */

test('a condition stays the same in its form, even if its values have commas, lines, spaces or no characters', () => {
  const conditions: readonly Condition[] = [
    { path: 'city', op: 'in', value: ['Berlin, Mitte', 'two\nlines', ' Paris ', '', '42', 42, true, null, 'say "hi"'] },
    { path: 'city', op: 'regex', value: '^a,b ' },
  ]
  for (const condition of conditions) assert.deepEqual(sentOf(draftOf(condition)), condition)
  for (const value of [' Paris ', '', '"quoted"', '42', 42, 'a, b'])
    assert.deepEqual(sentOf(draftOf({ path: 'city', equals: value })), { path: 'city', op: 'equals', value })
})

const written = (value: string): unknown => sentOf({ path: 'city', op: 'in', value }).value

test('a person can write a list with commas or lines', () => {
  assert.deepEqual(written('eur, usd\n42,,'), ['eur', 'usd', 42])
  assert.deepEqual(written('"a, b", c'), ['a, b', 'c'])
})

test('a field of a record stays the same in its form, even if its constant or default is the empty text', () => {
  const mappings: readonly Mapping[] = [
    { target: 'note', path: 'data.note', default: '' },
    { target: 'note', path: 'data.note', default: '42' },
    { target: 'note', path: 'data.note' },
    { target: 'note', value: '' },
    { target: 'note', value: { a: [1, null] } },
  ]
  for (const mapping of mappings) assert.deepEqual(mappingOf(mappingDraftOf(mapping)), mapping)
})

test('a rule whose condition or field is not complete is not saved without it', () => {
  const draft = { ...NEW_RULE, name: 'Paid', dataset: 'paid' }
  const condition = { path: '', op: 'equals', value: '' } as const
  const problem = (part: Partial<RuleDraft>): boolean => 'problem' in bodyOf({ ...draft, ...part })
  assert.equal(problem({ conditions: [{ ...condition, value: 'paid' }] }), true)
  assert.equal(problem({ conditions: [{ ...condition, op: 'exists' }] }), true)
  assert.equal(problem({ mappings: [{ ...NEW_MAPPING, path: 'data.id' }] }), true)
  assert.deepEqual(bodyOf({ ...draft, conditions: [condition], mappings: [NEW_MAPPING] }), {
    body: { name: 'Paid', dataset: 'paid', conditions: [], mappings: [] },
  })
})

test('the reading of bodies stays the same in its form', () => {
  for (const split of [null, 'lines', { path: '' }, { path: 'data.events' }] as const)
    for (const body_as of ['contract', 'text', 'xml'] as const)
      assert.deepEqual(readingOf(readingDraftOf({ body_as, split })), { body_as, split })
})

test('the response of an endpoint stays the same in its form, and one with the status 204 has no body', () => {
  const responses = [
    null,
    { status: 200, content_type: 'text/xml; charset=utf-8', body: '<Response/>\r\n' },
    { status: 202, content_type: null, body: '' },
    { status: 204, content_type: 'application/json', body: '' },
  ] as const
  for (const response of responses) assert.deepEqual(responseOf(responseDraftOf(response)), response)
  assert.deepEqual(responseOf({ status: '204', contentType: ' ', body: 'typed before' }), {
    status: 204,
    content_type: null,
    body: '',
  })
})

test('a handshake stays the same in its form, and the list recognizes the form of a provider', () => {
  const own: HandshakeForm = {
    when: {
      header: [{ name: 'X-Type', equals: 'a = "b"' }],
      query: 'two words',
      body_path: [
        { path: 'type', equals: '1' },
        { path: 'n', equals: 1 },
        { path: 'ok', equals: true },
        { path: 'event', absent: true },
      ],
    },
    proof: { kind: 'token', body_path: 'token' },
    answer: { status: 201, content_type: 'text/plain', headers: { 'X-A': 'b: c' }, body: ' {{ query.a }}\n' },
  }
  for (const form of [own, ...KNOWN_HANDSHAKES.map((known) => known.form)]) {
    const draft = handshakeDraftOf({ kind: 'custom', has_verify_token: true, ...form })
    assert.deepEqual(handshakeOf(draft), { value: { kind: 'custom', ...form } })
  }
  for (const { id, form } of KNOWN_HANDSHAKES) assert.equal(knownIn(formDraftOf(form)), id)
  for (const kind of ['none', 'hub_challenge', 'discord_ping'] as const)
    assert.deepEqual(handshakeOf(handshakeDraftOf({ kind })), { value: { kind } })
})

test('a person writes the places of a question as lines, and learns which line is no place', () => {
  const draft = handshakeDraftOf({ kind: 'custom' })
  const sent = (question: string) => handshakeOf({ ...draft, form: { ...draft.form, question, body: 'ok' } })
  const lines = 'query mode\nheader X-Type = check\nbody type = "1"\nbody n = 1\n\nbody event absent'
  const read = sent(lines)
  assert.ok('value' in read && read.value.kind === 'custom')
  assert.deepEqual(read.value.when, {
    header: [{ name: 'X-Type', equals: 'check' }],
    query: ['mode'],
    body_path: [
      { path: 'type', equals: '1' },
      { path: 'n', equals: 1 },
      { path: 'event', absent: true },
    ],
  })
  for (const wrong of ['cookie a', 'query', 'query a b', 'query a absent']) {
    const refused = sent(wrong)
    assert.ok('problem' in refused && refused.problem.includes(wrong), wrong)
  }
})
