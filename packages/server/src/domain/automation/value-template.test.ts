import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { parseStoredJson } from '../json/json-text.ts'
import { WorkBudget } from '../work-budget.ts'
import { compileValue, renderValue, stepBudget, type RenderedValue, type StepScope } from './value-template.ts'

const SCOPE: StepScope = {
  payload: { id: 'o-1', total: 12.5, paid: false, items: [{ sku: 'a' }], note: null, raw: '{{ now }}' },
  request: { method: 'POST', path: null, headers: { 'x-topic': 'orders/create' }, query: { tag: ['a', 'b'] } },
  record: { id: 'rec_1', dataset: 'orders', received_at: '2026-01-31T12:00:00.000Z' },
  steps: { paid: { output: { timed_out: false, payload: { order_id: 'o-1' } } } },
  workflow: { id: 'wfl_1', name: 'Follow up', version: 3 },
  now: '2026-02-01T00:00:00.000Z',
}

function render(value: unknown, { scope = SCOPE, budget = stepBudget() } = {}): RenderedValue {
  const compiled = compileValue(value)
  if ('error' in compiled) throw new Error(`${compiled.pointer}: ${compiled.error}`)
  return renderValue(compiled, { scope, budget })
}

function valueOf(value: unknown, scope = SCOPE): unknown {
  const rendered = render(value, { scope })
  assert.ok(rendered.ok, rendered.ok ? '' : rendered.error)
  return rendered.value
}

test('a string that is exactly one template retains the JSON type of its value', () => {
  assert.deepEqual(
    valueOf({
      total: '{{ payload.total }}',
      paid: '{{payload.paid}}',
      items: '{{ payload.items }}',
      note: '{{ payload.note }}',
      missing: '{{ payload.nothing.here }}',
      text: 'order {{ payload.id }}: {{ payload.total }}',
      plain: 7,
    }),
    { total: 12.5, paid: false, items: [{ sku: 'a' }], note: null, missing: null, text: 'order o-1: 12.5', plain: 7 },
  )
})

test('templates see the payload, the record, the outputs of steps, the workflow and the time', () => {
  assert.deepEqual(
    valueOf(['{{ record.id }}', '{{ steps.paid.output.payload.order_id }}', '{{ workflow.version }}', '{{ now }}']),
    ['rec_1', 'o-1', 3, '2026-02-01T00:00:00.000Z'],
  )
})

test('a value that looks like a template stays text', () => {
  assert.deepEqual(valueOf(['{{ payload.raw }}', 'is {{ payload.raw }}']), ['{{ now }}', 'is {{ now }}'])
})

test('no digit of a long number is lost', () => {
  const parsed = parseStoredJson('{"id": 12345678901234567890}')
  assert.ok(parsed.ok)
  const rendered = render({ id: '{{ payload.id }}' }, { scope: { ...SCOPE, payload: parsed.value } })
  assert.ok(rendered.ok)
  assert.equal(rendered.text, '{"id":12345678901234567890}')
})

test('a fault names its place and the remedy', () => {
  assert.deepEqual(compileValue({ a: ['x', '{{ data.id }}'] }), {
    error: 'data does not exist here; a template can use payload, record, steps, workflow, now, $request.',
    pointer: '/a/1',
  })
  assert.deepEqual(compileValue('{% for x in payload %}{% endfor %}'), {
    error: 'the tag "for" is not supported; a template takes {{ … }} with filters, and no tags.',
    pointer: '',
  })
  const long = compileValue(`{{ payload.id }}${'x'.repeat(LIMITS.workflowTemplateCharsMax)}`)
  assert.ok('error' in long)
  assert.match(long.error, /at most 4096 characters; shorten it/)
  assert.ok(!('error' in compileValue('x'.repeat(LIMITS.workflowTemplateCharsMax + 1))), 'plain text is no template')
})

test('the paths of a value name the steps that it reads', () => {
  const compiled = compileValue({
    a: '{{ steps.paid.output | default: steps["late"].output }}',
    b: '{{ steps[payload.id] }}',
  })
  assert.ok(!('error' in compiled))
  assert.deepEqual(
    compiled.paths.filter(({ root }) => root === 'steps').map(({ pointer, second }) => [pointer, second]),
    [
      ['/a', 'late'],
      ['/a', 'paid'],
      ['/b', undefined],
    ],
  )
})

test('a rendered value and the work of a step are limited', () => {
  const big = render('{{ payload }}', { scope: { ...SCOPE, payload: 'x'.repeat(LIMITS.workflowValueCharsMax) } })
  assert.ok(!big.ok)
  assert.match(big.error, /render more than 262144 characters/)
  const work = render('{{ payload.id | upcase | downcase }}', { budget: new WorkBudget(500) })
  assert.ok(!work.ok)
  assert.match(work.error, /more work than one step can use/)
})
