import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, LIMITS, Steps } from '@postroad/contract'
import { checkDefinition } from './definition.ts'

const DESTINATION = encodeId('destination', '01890000-0000-7000-8000-000000000001')
const AGENT = encodeId('aiAgent', '01890000-0000-7000-8000-000000000002')

const emit = (id: string, data?: unknown) => ({
  id,
  type: 'emit_event',
  dataset: 'made',
  ...(data === undefined ? {} : { data }),
})
const delay = (id: string) => ({ id, type: 'delay', seconds: 5 })
const deliver = (id: string, more = {}) => ({ id, type: 'deliver', destination: DESTINATION, ...more })
const wait = (id: string, conditions: unknown[] = [{ path: 'order', equals: '{{ payload.id }}' }]) => ({
  id,
  type: 'wait_for_event',
  dataset: 'payments',
  conditions,
  timeout_seconds: 60,
})
const branch = (id: string, steps: unknown[], more = {}) => ({
  id,
  type: 'branch',
  branches: [{ name: 'big', conditions: [{ path: 'total', op: 'gte', value: 5 }], steps }],
  ...more,
})

const arm = (name: string) => ({ name, steps: [] })
const agent = (more: object) => ({ id: 'a', type: 'run_agent', agent: AGENT, ...more })
const part = (id: string) => emit(id, 'x'.repeat(50_000))
const manyOutputs = (id: string) =>
  emit(
    id,
    Array.from({ length: 300 }, () => '{{ now }}'),
  )
const check = (...steps: unknown[]) => checkDefinition(Steps.parse(steps))

function refused(steps: unknown[], sentence: RegExp): void {
  const checked = check(...steps)
  assert.ok('error' in checked, 'the definition was accepted')
  assert.match(checked.error, sentence)
  assert.match(checked.error, /^steps\S* .+\.$/, 'a place and a sentence')
}

test('a definition with all six steps is accepted, and lists the resources that it names', () => {
  const checked = check(
    delay('cool_off'),
    wait('paid'),
    branch('route', [
      {
        id: 'classify',
        type: 'run_agent',
        agent: AGENT,
        input: { order: '{{ payload }}', paid: '{{ steps.paid.output }}' },
      },
    ]),
    emit('summary', { risk: '{{ steps.classify.output.risk | default: "low" }}' }),
    deliver('notify', { record: 'summary', await: 'delivered', capture_response: true }),
  )
  assert.ok(!('error' in checked), 'error' in checked ? checked.error : '')
  assert.deepEqual(
    [checked.destinations.map(({ place }) => place), checked.agents.map(({ place }) => place)],
    [['steps[4].destination'], ['steps[2].branches[0].steps[0].agent']],
  )
})

test('each id is unique in the whole workflow', () => {
  refused(
    [emit('a'), branch('b', [emit('a')])],
    /^steps\[1\]\.branches\[0\]\.steps\[0\]\.id: "a" is also the id of steps\[0\]/,
  )
})

test('a workflow has at most 32 steps, counting branches and their steps', () => {
  const many = Array.from({ length: LIMITS.workflowStepsMax - 2 }, (_, index) => emit(`s${index}`))
  assert.ok(!('error' in check(...many, branch('b', [emit('in')]))))
  refused(
    [...many, branch('b', [emit('in')], { else: [emit('out')] })],
    /^steps: the workflow has 33 steps, including those in branches/,
  )
})

test('branches are nested at most 3 levels deep', () => {
  const three = branch('a', [branch('b', [branch('c', [emit('x')])])])
  assert.ok(!('error' in check(three)))
  refused([branch('z', [three])], /^steps\[0\]\.branches\[0\].*: branches are nested more than 3 levels deep/)
})

test('no step inside a branch waits', () => {
  refused([branch('b', [delay('d')])], /a delay step cannot be inside a branch/)
  refused(
    [branch('b', [], { else: [wait('w')] })],
    /^steps\[0\]\.else\[0\]: a wait_for_event step cannot be inside a branch/,
  )
  refused([branch('b', [deliver('d', { await: 'delivered' })])], /\.await: a step inside a branch cannot wait/)
})

test('a wait has a condition with equals, because Postroad finds the wait by its value', () => {
  refused([wait('w', [{ path: 'a', op: 'exists' }])], /^steps\[0\]\.conditions: Postroad finds a wait by a value/)
  refused([wait('w', [])], /Postroad finds a wait by a value/)
  refused(
    [
      wait('w', [
        { path: 'a', equals: 1 },
        { path: 'b', op: 'regex', value: '^{{ payload.id }}' },
      ]),
    ],
    /a pattern cannot be a template/,
  )
  refused(
    [
      wait('w', [
        { path: 'a', equals: 1 },
        { path: 'b', op: 'regex', value: '(a+)+' },
      ]),
    ],
    /conditions\[1\]\.value: /,
  )
})

test('templates parse, and name only the roots and steps that come earlier', () => {
  refused([emit('a', { x: ['{{ data.id }}'] })], /^steps\[0\]\.data\.x\[0\]: data does not exist here/)
  refused(
    [emit('a', '{{ steps.b.output }}'), emit('b')],
    /^steps\[0\]\.data: the step "b" does not exist or does not run before this one/,
  )
  refused([emit('a', '{{ steps.a.output }}')], /the step "a" does not exist/)
  refused([emit('a', '{{ steps[payload.id] }}')], /name the step to read/)
  refused([emit('a', '{{ payload.id | join }}')], /steps\[0\]\.data: /)
  refused([{ id: 'a', type: 'delay', until: 'tomorrow' }], /^steps\[0\]\.until must be a template/)
  assert.ok(!('error' in check({ id: 'a', type: 'delay', until: '2026-01-31T12:00:00Z' })))
})

test('a branch does not see the steps of another branch, and later steps see all of them', () => {
  const arms = branch('b', [emit('one')], { else: [emit('two', '{{ steps.one.output }}')] })
  refused([arms], /^steps\[0\]\.else\[0\]\.data: the step "one" does not exist/)
  assert.ok(
    !('error' in check(branch('b', [emit('one')], { else: [emit('two')] }), emit('c', '{{ steps.one.output }}'))),
  )
})

test('a branch reads the payload or the output of an earlier step, and takes no templates', () => {
  refused([branch('b', [], { input: 'steps.later.output' })], /^steps\[0\]\.input: the step "later" does not exist/)
  refused([branch('b', [], { input: 'record' })], /must be "payload", or the output of an earlier step/)
  assert.ok(!('error' in check(wait('w'), branch('b', [], { input: 'steps.w.output' }))))
  const templated = { name: 'x', conditions: [{ path: 'a', equals: '{{ payload.b }}' }], steps: [] }
  refused([branch('b', [], { branches: [templated] })], /conditions of a branch cannot contain templates/)
})

test('the names of the branches of a step differ', () => {
  refused([branch('b', [], { branches: [arm('x'), arm('x')] })], /branches\[1\]\.name: another branch/)
  refused([branch('b', [], { branches: [arm('else')] })], /"else" is the name of the other branch/)
})

test('deliver names a destination by its id, and a record of an earlier emit_event', () => {
  refused([deliver('d', { destination: 'erp' })], /^steps\[0\]\.destination must be the id of a destination/)
  refused([delay('x'), deliver('d', { record: 'x' })], /^steps\[1\]\.record: "x" is not an earlier emit_event step/)
  refused([deliver('d', { capture_response: true })], /capture_response requires "await": "delivered"/)
})

test('run_agent names an agent by its id, and its schema describes an object of limited size', () => {
  refused([agent({ agent: 'helper' })], /^steps\[0\]\.agent must be the id of an AI agent/)
  refused([agent({ output_schema: { type: 'array' } })], /\.output_schema: The schema must have the type "object"/)
  const long = { type: 'object', description: 'x'.repeat(LIMITS.agentSchemaCharsMax) }
  refused([agent({ output_schema: long })], /more than 16000 characters; shorten it/)
})

test('the whole definition is limited in size and in templates', () => {
  refused([part('a'), part('b'), part('c')], /^steps have \d+ characters of JSON in total/)
  refused([manyOutputs('a'), manyOutputs('b')], /^steps contain more than 500/)
})
